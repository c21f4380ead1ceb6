import { randomBytes } from "node:crypto";
import { mkdir, rename, rm, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { AppError } from "../../errors.ts";
import { importFolder } from "./import-folder.ts";
import { importRepository } from "./import-repository.ts";
import { initRepository } from "./init-repository.ts";
import { type Repository, type RepositoryDeps, repositoryOf } from "./repository.ts";
import { findGitDir } from "./source-repository.ts";

export interface NewRepository {
  projectId: string;
  /** A git repository (every branch and tag) or a plain folder (one commit) to start from; null: empty. */
  importFrom: string | null;
}

/** Makes a project's repository, whole or not at all. Returns its default branch. */
export async function createLocalRepository(
  deps: RepositoryDeps,
  input: NewRepository,
  signal: AbortSignal,
): Promise<{ defaultBranch: string }> {
  const final = repositoryOf(deps, input.projectId);
  await mkdir(deps.forgeDir, { recursive: true, mode: 0o700 });
  const draft = { git: deps.git, gitDir: join(deps.forgeDir, `.new-${randomBytes(8).toString("hex")}`) };
  try {
    const defaultBranch = await fill(draft, input.importFrom, signal);
    await rename(draft.gitDir, final.gitDir);
    return { defaultBranch };
  } catch (error) {
    await rm(draft.gitDir, { recursive: true, force: true });
    throw error;
  }
}

async function fill(repository: Repository, importFrom: string | null, signal: AbortSignal): Promise<string> {
  if (importFrom === null) {
    await initRepository(repository, { defaultBranch: "main", objectFormat: "sha1" }, signal);
    return "main";
  }
  const path = resolve(importFrom);
  const found = await stat(path).catch(() => null);
  if (!found?.isDirectory()) {
    throw new AppError("invalid_request", { publicMessage: `There is no folder ${importFrom} to import.` });
  }
  const gitDir = await findGitDir(path);
  return gitDir === null ? importFolder(repository, path, signal) : importRepository(repository, gitDir, signal);
}
