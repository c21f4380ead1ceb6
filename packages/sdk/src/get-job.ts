import type { AgentJob } from "@emend/contract";
import type { Connection } from "./connection.ts";
import { jobPath } from "./job-path.ts";
import { parseJob } from "./parse-job.ts";
import { request } from "./request.ts";

export async function getJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<AgentJob> {
  return parseJob(deps, await request(deps, { method: "GET", path: jobPath(projectId, jobId) }, signal));
}
