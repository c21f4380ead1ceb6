import { join } from "node:path";
import type { Git } from "@emend/tree";
import type { Pool } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";

/** A project's bare repository. Only this installation writes to it. */
export interface Repository {
  git: Git;
  gitDir: string;
}

/** What access to the local forge's folder needs. */
export interface RepositoryDeps {
  /** Must allow the file protocol: imports and workers read folders. */
  git: Git;
  forgeDir: string;
}

export interface LocalForgeDeps extends RepositoryDeps {
  pool: Pool;
  /** Known once the server is listening. */
  publicUrl(): string;
}

/** Ids become file names, so only our own format is accepted. */
export function isProjectId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/.test(text);
}

export function repositoryOf(deps: RepositoryDeps, projectId: string): Repository {
  if (!isProjectId(projectId)) throw new AppError("not_found", { publicMessage: "Project not found." });
  return { git: deps.git, gitDir: join(deps.forgeDir, `${projectId}.git`) };
}

const commandMsMax = 60_000;
const outputBytesMax = 16 * 1024 * 1024;

/** Returns any exit code instead of throwing. */
export async function ask(
  { git, gitDir }: Repository,
  args: readonly string[],
  signal: AbortSignal,
): Promise<{ code: number; output: string }> {
  const result = await git.run({ gitDir, args, timeMsMax: commandMsMax, outputBytesMax }, signal);
  return { code: result.code, output: result.stdout.toString("utf8") };
}

const looseObjectsMax = 200;

/** Packs loose objects and refs that pushes left. */
export async function tidyRepository(repository: Repository, signal: AbortSignal): Promise<void> {
  const counted = await ask(repository, ["count-objects"], signal);
  if (counted.code !== 0 || Number.parseInt(counted.output, 10) <= looseObjectsMax) return;
  await gitOutput(repository, ["repack", "-d", "-q", "--geometric=2"], signal);
  await gitOutput(repository, ["pack-refs", "--all"], signal);
}

/** For commands that fail only if this machine has a problem. */
export async function gitOutput(
  { git, gitDir }: Repository,
  args: readonly string[],
  signal: AbortSignal,
  config?: Readonly<Record<string, string>>,
): Promise<string> {
  const output = await git.must({ gitDir, args, timeMsMax: commandMsMax, outputBytesMax, config }, signal);
  return output.toString("utf8").trim();
}

/**
 * The local forge is a folder. Processes that share a database may run on different machines with their own data
 * directories, so the folder must be declared as shared. With the embedded database there is only one machine.
 */
export function assertLocalForgeUsable(place: {
  /** EMEND_DATABASE_URL. */
  databaseUrl: string | null;
  /** EMEND_FORGE_DIR. */
  forgeDir: string | null;
  dataDir: string;
}): void {
  if (place.databaseUrl === null || place.forgeDir !== null) return;
  throw new AppError("invalid_request", {
    publicMessage:
      `The local forge keeps its repositories in ${place.dataDir} on this machine, and EMEND_DATABASE_URL may be shared ` +
      "with processes elsewhere: set EMEND_FORGE_DIR to a folder that all of them see (on one machine any folder will do).",
  });
}
