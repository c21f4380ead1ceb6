import { AppError } from "../errors.ts";
import type { Forge } from "./forge.ts";
import { type LocalForgeDeps, openLocalForge } from "./local/local-forge.ts";

export interface ForgeProject {
  id: string;
  forge: string;
}

/** Each forge has a folder here, opens by one function, and passes `conformance.ts`. */
const openers: Readonly<Record<string, (deps: ForgeDeps, project: ForgeProject) => Forge>> = {
  local: (deps, project) => openLocalForge(deps.local, project.id),
};

export interface ForgeDeps {
  local: LocalForgeDeps;
}

export function openForge(project: ForgeProject, deps: ForgeDeps): Forge {
  assertForgeKnown(project.forge);
  const open = openers[project.forge];
  if (!open) throw unknown(project.forge);
  return open(deps, project);
}

/** For whoever adds a project: refused in words, before anything is stored. */
export function assertForgeKnown(name: string): void {
  if (!Object.hasOwn(openers, name)) throw unknown(name);
}

function unknown(name: string): AppError {
  const known = Object.keys(openers).join(", ");
  return new AppError("invalid_request", { publicMessage: `This release has no forge "${name}". It has: ${known}.` });
}
