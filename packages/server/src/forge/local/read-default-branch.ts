import { ask, type Repository } from "./repository.ts";

/** Null where HEAD names no branch. */
export async function readDefaultBranch(repository: Repository, signal: AbortSignal): Promise<string | null> {
  const { code, output } = await ask(repository, ["symbolic-ref", "--short", "HEAD"], signal);
  return code === 0 ? output.trim() : null;
}
