import {
  type Forge,
  type ForgeSettings,
  type GithubTokens,
  type JudgedReach,
  knownForge,
  openJudgedForge,
  type Polling,
} from "@emend/forges";
import { AppError } from "../errors.ts";
import { openLocalForge } from "./local/local-forge.ts";
import type { LocalForgeDeps } from "./local/repository.ts";

export interface ForgeDeps {
  local: LocalForgeDeps;
  /** SSRF guard. */
  reach: JudgedReach;
  githubTokens: GithubTokens;
  /** The project's decrypted token. Null if it has none. */
  credentialOf(projectId: string): Promise<string | null>;
}

/** A project as it is stored. */
interface StoredProject {
  id: string;
  forge: string;
  repositoryUrl: string;
  settings: { forge: ForgeSettings };
}

export async function openForge(project: StoredProject, deps: ForgeDeps, polling?: Polling): Promise<Forge> {
  const name = knownForge(project.forge);
  if (name === "local") return openLocalForge(deps.local, project.id);
  const credential = await deps.credentialOf(project.id);
  if (credential === null) {
    throw new AppError("forge_rejected", {
      publicMessage: "The project has no token for its forge. Set one in its settings.",
    });
  }
  const { githubTokens: tokens } = deps;
  const settings = project.settings.forge;
  const input = { tokens, project: { ...project, settings }, credential, ...(polling && { polling }) };
  return openJudgedForge(input, deps.reach);
}
