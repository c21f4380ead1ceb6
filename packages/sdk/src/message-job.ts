import type { AgentJob } from "@emend/contract";
import type { Connection } from "./connection.ts";
import { jobPath } from "./job-path.ts";
import { parseJob } from "./parse-job.ts";
import { request } from "./request.ts";

/** Asks a finished job for more, on the same branch and pull request. */
export async function messageJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  body: { prompt: string },
  signal: AbortSignal | undefined,
): Promise<AgentJob> {
  const path = `${jobPath(projectId, jobId)}/message`;
  // A lost answer is told, not tried again: the work may have begun.
  return parseJob(deps, await request(deps, { method: "POST", path, body, isOnce: true }, signal));
}
