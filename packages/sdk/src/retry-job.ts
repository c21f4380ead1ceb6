import type { AgentJob } from "@emend/contract";
import type { Connection } from "./connection.ts";
import { jobPath } from "./job-path.ts";
import { parseJob } from "./parse-job.ts";
import { request } from "./request.ts";

/** Starts a failed job again where it stopped; an active one is answered as it is. */
export async function retryJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<AgentJob> {
  const path = `${jobPath(projectId, jobId)}/retry`;
  return parseJob(deps, await request(deps, { method: "POST", path }, signal));
}
