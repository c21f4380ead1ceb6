import type { AgentJob } from "@emend/contract";
import type { Connection } from "./connection.ts";
import { jobPath } from "./job-path.ts";
import { parseJob } from "./parse-job.ts";
import { request } from "./request.ts";

// The service holds its answer back this long while the job is being published.
const publishingMsMax = 30_000;

/** Archives a job; one that is still active is stopped first and opens no pull request afterwards. */
export async function archiveJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<AgentJob> {
  const path = `${jobPath(projectId, jobId)}/archive`;
  return parseJob(deps, await request(deps, { method: "POST", path, heldMsMax: publishingMsMax }, signal));
}
