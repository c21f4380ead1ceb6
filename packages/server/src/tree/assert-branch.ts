import { AppError, isAppError } from "../errors.ts";
import type { Git } from "./git.ts";
import type { Remote } from "./mirror.ts";
import { resolveBase } from "./resolve-base.ts";

/** Refuses a base branch that the repository does not have, saying which it has; one that is away now is let through. */
export async function assertBranch(git: Git, remote: Remote, branch: string, signal: AbortSignal): Promise<void> {
  try {
    await resolveBase(git, { remote, baseRef: branch }, signal);
  } catch (error) {
    if (!isAppError(error, "repository_unavailable")) throw error;
    if (error.retryable) return;
    throw new AppError("invalid_request", { publicMessage: error.publicMessage, cause: error });
  }
}
