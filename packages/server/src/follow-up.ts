import type { Pool } from "./db/pool.ts";
import type { JobReader } from "./jobs/job-reader.ts";
import { messageJob, messageQuota } from "./jobs/message-job.ts";
import { assertNever } from "./lib/assert-never.ts";
import type { CommentDeps } from "./run/follow-comments.ts";

/**
 * What somebody says on a pull request goes the way of every message, under the same quota. The comment is heard in the
 * transaction that takes it: a crash leaves both or neither.
 */
export function createFollowUp(deps: { pool: Pool; reader: JobReader }): CommentDeps["followUp"] {
  return async ({ jobId, projectId, prompt, author }) => {
    const outcome = await messageJob(
      // The pull request was looked at a moment ago.
      { ...deps, pullRequestState: async () => null },
      messageQuota,
      { id: jobId, projectId, prompt, createdBy: `comment/${author}` },
    );
    switch (outcome.kind) {
      case "accepted":
        return { kind: "accepted" };
      case "limited":
        return { kind: "later" };
      case "unknown_job":
        return { kind: "refused", words: "Emend no longer knows the job of this pull request." };
      case "refused":
        if (outcome.because === "active") return { kind: "later" };
        return { kind: "refused", words: `Emend cannot go on with this job: it is ${outcome.because}.` };
      default:
        return assertNever(outcome);
    }
  };
}
