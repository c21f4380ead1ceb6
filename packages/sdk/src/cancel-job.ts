import type { AgentJob } from "@emend/contract";
import type { Connection } from "./connection.ts";
import { jobPath } from "./job-path.ts";
import { parseJob } from "./parse-job.ts";
import { request } from "./request.ts";

/** Stops an active job; a final one is answered as it is. */
export async function cancelJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<AgentJob> {
  const path = `${jobPath(projectId, jobId)}/cancel`;
  return parseJob(deps, await request(deps, { method: "POST", path }, signal));
}
