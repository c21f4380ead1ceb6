import { type Repository, tell } from "./repository.ts";

/** Without a single branch. */
export async function isEmptyRepository(repository: Repository, signal: AbortSignal): Promise<boolean> {
  return (await tell(repository, ["for-each-ref", "--count=1", "refs/heads"], signal)) === "";
}
