import type {
  AgentJob,
  ApproveJobBody,
  CreateJobBody,
  JobDiff,
  JobList,
  JobRun,
  JobStatus,
  MessageJobBody,
  ProjectList,
  Upload,
} from "@emend/contract";
import type { CallOptions, Connection, WaitOptions } from "./connection.ts";
import { EmendError, type Quota } from "./errors.ts";
import { type ApiResponse, parseBody, pause, readQuota, request, retryAfterMs } from "./request.ts";

/** The path of one job. */
export function jobPath(projectId: string, jobId: string): string {
  return `${projectPath(projectId)}/job/${segment("id", jobId)}`;
}

function jobsPath(projectId: string, query: Record<string, string | undefined>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const text = new URLSearchParams(given).toString();
  return `${projectPath(projectId)}/jobs${text && `?${text}`}`;
}

export function projectPath(projectId: string): string {
  return `/v2/agent/${segment("projectId", projectId)}`;
}

export function segment(name: "projectId" | "id", value: string, form = "a job's id, job_…"): string {
  // Plain JavaScript passes `undefined` for a misspelled field, and "undefined" in a path would be a 404.
  if (typeof value !== "string") {
    const expected = name === "id" ? form : "a project's id, prj_…";
    throw new EmendError(
      "invalid_request",
      `${name} must be ${expected}, but is ${value === null ? "null" : typeof value}`,
    );
  }
  // "." and ".." would be resolved and reach another route.
  if (value === "" || value === "." || value === ".." || !value.isWellFormed()) {
    throw new EmendError("invalid_request", `${name} is not an identifier: ${JSON.stringify(value)}`);
  }
  return encodeURIComponent(value);
}

// A record, so that the compiler notices a new status in the contract.
const statuses: Record<JobStatus, true> = { active: true, completed: true, archived: true, failed: true };

function parseJob(deps: Connection, response: ApiResponse): AgentJob {
  return parseBody(deps, response, { name: "job", is: isJob });
}

function isJob(body: object): body is AgentJob {
  if (!("id" in body) || typeof body.id !== "string") return false;
  return "status" in body && typeof body.status === "string" && Object.hasOwn(statuses, body.status);
}

/** A job that was just started: await it for the current job, or `.wait()` for the finished one. */
export interface StartedJob extends Promise<AgentJob> {
  wait(options?: WaitOptions): Promise<AgentJob>;
}

export function startedJob(
  starting: Promise<AgentJob>,
  wait: (id: string, options: WaitOptions) => Promise<AgentJob>,
): StartedJob {
  return Object.assign(starting, {
    wait: async (options: WaitOptions = {}) => wait((await starting).id, options),
  });
}

/** The projects that the key covers, oldest first. */
export async function listProjects(
  deps: Connection,
  signal: AbortSignal | undefined,
): Promise<ProjectList["projects"]> {
  const response = await request(deps, { method: "GET", path: "/v2/projects" }, signal);
  return parseBody(deps, response, { name: "list of projects", is: isProjectList }).projects;
}

function isProjectList(body: object): body is ProjectList {
  return "projects" in body && Array.isArray(body.projects);
}

export interface StartOptions extends CallOptions {
  /** Generated for each call unless given. Pass your own to start a job once across restarts of your program. */
  idempotencyKey?: string;
}

/** Creates a job at most once, however often the request is sent. */
export function createJob(
  deps: Connection,
  projectId: string,
  input: CreateJobBody,
  options: StartOptions & { onQuota(quota: Quota): void },
): Promise<AgentJob> {
  return startOnce(deps, () => `${projectPath(projectId)}/job`, input, options);
}

/** A file for a prompt or a message. */
export interface NewFile {
  /** Its ending says what it is: .png, .jpg, .jpeg, .webp or .pdf. */
  name: string;
  bytes: Uint8Array;
}

const typeOf: Readonly<Record<string, Upload["type"]>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  webp: "image/webp",
  pdf: "application/pdf",
};

/** Sent again, it is stored twice; what no prompt names is deleted after a day. */
export async function uploadFile(
  deps: Connection,
  projectId: string,
  file: NewFile,
  signal: AbortSignal | undefined,
): Promise<Upload> {
  const type = typeOf[file.name.split(".").at(-1)?.toLowerCase() ?? ""];
  if (type === undefined) {
    const endings = Object.keys(typeOf)
      .map((ending) => `.${ending}`)
      .join(", ");
    throw new EmendError("invalid_request", `${file.name} can't be attached: its name must end with ${endings}`);
  }
  const path = `${projectPath(projectId)}/upload?name=${encodeURIComponent(file.name)}`;
  const headers = { "content-type": type };
  const response = await request(deps, { method: "POST", path, headers, body: file.bytes }, signal);
  return parseBody(deps, response, { name: "upload", is: isUpload });
}

function isUpload(body: object): body is Upload {
  return "id" in body && typeof body.id === "string";
}

async function startOnce(
  deps: Connection,
  path: () => string,
  body: { prompt: string },
  options: StartOptions & { onQuota(quota: Quota): void },
): Promise<AgentJob> {
  const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID();
  if (!/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw new EmendError("invalid_request", "idempotencyKey must be 1 to 255 printable ASCII characters");
  }
  const headers = { "idempotency-key": idempotencyKey };
  const response = await request(deps, { method: "POST", path: path(), headers, body }, options.signal).catch(
    (error) => {
      if (error instanceof EmendError && error.quota) options.onQuota(error.quota);
      throw error;
    },
  );
  const quota = readQuota(response.headers);
  if (quota) options.onQuota(quota);
  return parseJob(deps, response);
}

export async function getJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<AgentJob> {
  return parseJob(deps, await request(deps, { method: "GET", path: jobPath(projectId, jobId) }, signal));
}

export interface ListOptions extends CallOptions {
  /** Only jobs in this state. */
  status?: JobStatus;
  /** Jobs per page, at most 100. */
  limit?: number;
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

/** All jobs of a project, newest first. Pages are fetched on demand. */
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

/** Sends a message to a job, on the same branch and pull request; at most once. */
export function messageJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  body: MessageJobBody,
  options: StartOptions & { onQuota(quota: Quota): void },
): Promise<AgentJob> {
  return startOnce(deps, () => `${jobPath(projectId, jobId)}/message`, body, options);
}

/** Cancels an active job. A finished one is returned unchanged. */
export async function cancelJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<AgentJob> {
  const path = `${jobPath(projectId, jobId)}/cancel`;
  return parseJob(deps, await request(deps, { method: "POST", path }, signal));
}

// How long the service holds the response while the job is being published.
const publishingMsMax = 30_000;

/** Archives a job. An active one is stopped first and opens no pull request afterwards. */
export async function archiveJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<AgentJob> {
  const path = `${jobPath(projectId, jobId)}/archive`;
  return parseJob(deps, await request(deps, { method: "POST", path, heldMsMax: publishingMsMax }, signal));
}

/** Restarts a failed job where it stopped. An active one is returned unchanged. */
export async function retryJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<AgentJob> {
  const path = `${jobPath(projectId, jobId)}/retry`;
  return parseJob(deps, await request(deps, { method: "POST", path }, signal));
}

/** Publishes a completed preview's diff. One that was published already is returned unchanged. */
export async function publishJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  signal: AbortSignal | undefined,
): Promise<AgentJob> {
  const path = `${jobPath(projectId, jobId)}/publish`;
  return parseJob(deps, await request(deps, { method: "POST", path }, signal));
}

/** Answers the question about constructs that Emend does not know: the change is published, or not. */
export async function answerApproval(
  deps: Connection,
  projectId: string,
  jobId: string,
  answer: "approve" | "decline",
  body: ApproveJobBody,
  signal: AbortSignal | undefined,
): Promise<AgentJob> {
  const path = `${jobPath(projectId, jobId)}/${answer}`;
  return parseJob(deps, await request(deps, { method: "POST", path, ...(answer === "approve" && { body }) }, signal));
}

/** The job's changes: a unified diff, and its files with their figures. */
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

const holdSeconds = 50;
const heldMsMin = 1000;
const pauseMsMin = 250;
const pauseMsMax = 10_000;

/** Waits until the job is completed, archived or failed, with long polling. */
export async function waitForJob(
  deps: Connection,
  projectId: string,
  jobId: string,
  options: WaitOptions,
): Promise<AgentJob> {
  const path = jobPath(projectId, jobId);
  let last: ApiResponse | null = null;
  let quickAnswers = 0;
  for (;;) {
    const askedAt = performance.now();
    const answer: ApiResponse = await request(deps, pollOf(path, last), options.signal);
    const isChanged = answer.status !== 304 && answer.text !== last?.text;
    if (isChanged) {
      const job = parseJob(deps, answer);
      options.onUpdate?.(job);
      if (job.status !== "active") return job;
    }
    const isFirst = last === null;
    if (answer.status !== 304) last = answer;
    if (isFirst) continue;

    // A service that holds the response sets the pace. A proxy that strips the header makes it answer immediately: then
    // the client slows down with every response without news.
    const wasHeld = performance.now() - askedAt >= heldMsMin;
    quickAnswers = wasHeld || isChanged ? 0 : quickAnswers + 1;
    if (!wasHeld) await pause(isChanged ? pauseMsMin : idlePauseMs(answer, quickAnswers), options.signal);
  }
}

function pollOf(path: string, last: ApiResponse | null) {
  if (last === null) return { method: "GET", path, isPatient: true } as const;
  const etag = last.headers.get("etag");
  return {
    method: "GET",
    path,
    headers: { prefer: `wait=${holdSeconds}`, ...(etag ? { "if-none-match": etag } : {}) },
    heldMsMax: holdSeconds * 1000,
    isPatient: true,
  } as const;
}

function idlePauseMs(answer: ApiResponse, quickAnswers: number): number {
  const grownMs = Math.min(pauseMsMax, pauseMsMin * 2 ** quickAnswers);
  return Math.max(grownMs, retryAfterMs(answer.headers.get("retry-after")) ?? 0);
}
