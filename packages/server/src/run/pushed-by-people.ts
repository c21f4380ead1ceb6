import { isAppError } from "../errors.ts";
import type { LeasedJob } from "../jobs/leased-job.ts";
import type { Mirror, Remote } from "../tree/mirror.ts";

/** The files that people changed on a job's branch since its last round. */
export async function pushedByPeople(
  deps: { mirror: Mirror; remote: Remote },
  job: LeasedJob,
  head: string,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const from = job.branchCommit;
  if (from === null || from === head) return [];
  try {
    return await deps.mirror.changedSince({ remote: deps.remote, jobId: job.id, from, to: head }, signal);
  } catch (error) {
    // A branch that was rewritten may have left it behind, and then nobody can say.
    if (isAppError(error, "repository_unavailable")) return [];
    throw error;
  }
}
