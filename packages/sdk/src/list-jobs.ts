import type { AgentJob, JobList, JobStatus } from "@emend/contract";
import type { Connection } from "./connection.ts";
import { jobsPath } from "./job-path.ts";
import { parseBody } from "./parse-body.ts";
import { isJob } from "./parse-job.ts";
import { request } from "./request.ts";

export interface ListOptions {
  /** Only jobs in this state. */
  status?: JobStatus;
  /** Jobs a page, 100 at most. */
  limit?: number;
  signal?: AbortSignal;
}

/** One page of a project's jobs, newest first. */
export async function listPage(
  deps: Connection,
  projectId: string,
  options: ListOptions & { cursor?: string },
): Promise<JobList> {
  const { status, limit, cursor, signal } = options;
  const path = jobsPath(projectId, { status, limit: limit?.toString(), cursor });
  return parseBody(deps, await request(deps, { method: "GET", path }, signal), { name: "list of jobs", is: isList });
}

/** Every job of a project, newest first; the next page is asked for when its first job is. */
export async function* listJobs(
  deps: Connection,
  projectId: string,
  options: ListOptions,
): AsyncGenerator<AgentJob, void, undefined> {
  let cursor: string | undefined;
  do {
    const page = await listPage(deps, projectId, { ...options, ...(cursor === undefined ? {} : { cursor }) });
    yield* page.jobs;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

function isList(body: object): body is JobList {
  if (!("jobs" in body) || !Array.isArray(body.jobs)) return false;
  return body.jobs.every((job) => typeof job === "object" && job !== null && isJob(job)) && "nextCursor" in body;
}
