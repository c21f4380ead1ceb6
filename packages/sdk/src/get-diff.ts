import type { JobDiff } from "@emend/contract";
import type { Connection } from "./connection.ts";
import { jobPath } from "./job-path.ts";
import { parseBody } from "./parse-body.ts";
import { request } from "./request.ts";

/** What the job changed: a unified diff, and its files with their figures. */
export async function getDiff(
  deps: Connection,
  projectId: string,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<JobDiff> {
  const path = `${jobPath(projectId, jobId)}/diff`;
  return parseBody(deps, await request(deps, { method: "GET", path }, signal), { name: "diff", is: isDiff });
}

function isDiff(body: object): body is JobDiff {
  return "diff" in body && typeof body.diff === "string" && "files" in body && Array.isArray(body.files);
}
