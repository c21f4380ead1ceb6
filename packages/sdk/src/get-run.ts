import type { JobRun } from "@emend/contract";
import type { Connection } from "./connection.ts";
import { jobPath } from "./job-path.ts";
import { parseBody } from "./parse-body.ts";
import { request } from "./request.ts";

/** What the job is doing or did: phase, failure, steps, usage, findings, pull request. */
export async function getRun(
  deps: Connection,
  projectId: string,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<JobRun> {
  const path = `${jobPath(projectId, jobId)}/run`;
  return parseBody(deps, await request(deps, { method: "GET", path }, signal), { name: "run", is: isRun });
}

function isRun(body: object): body is JobRun {
  return "id" in body && typeof body.id === "string" && "phase" in body && "failure" in body && "steps" in body;
}
