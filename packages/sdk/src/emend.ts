import type { AgentJob, CreateJobBody, JobDiff, JobEvent, JobList, JobRun } from "@emend/contract";
import { type Connection, connection, type EmendOptions } from "./connection.ts";
import {
  archiveJob,
  type CreateOptions,
  cancelJob,
  createJob,
  getDiff,
  getJob,
  getRun,
  type ListOptions,
  listJobs,
  listPage,
  messageJob,
  retryJob,
  type StartedJob,
  startedJob,
} from "./jobs.ts";
import { type EventsOptions, streamEvents } from "./stream-events.ts";
import { type WaitOptions, waitForJob } from "./wait-for-job.ts";

interface CallOptions {
  signal?: AbortSignal;
}

/** The jobs of one project. */
export interface Jobs {
  /** Starts a job. Retried safely: the same call never makes two. `create(…).wait()` resolves when it is over. */
  create(input: CreateJobBody, options?: CreateOptions): StartedJob;
  get(id: string, options?: CallOptions): Promise<AgentJob>;
  /** Every job, newest first, page after page: `for await (const job of jobs.list())`. */
  list(options?: ListOptions): AsyncGenerator<AgentJob, void, undefined>;
  /** One page, and the cursor of the next. */
  listPage(options?: ListOptions & { cursor?: string }): Promise<JobList>;
  /** Resolves with the job once it is completed, archived or failed; a failed job is a result, not an error. */
  wait(id: string, options?: WaitOptions): Promise<AgentJob>;
  /** Everything that happened and happens, through lost connections; ends when the job is final. */
  events(id: string, options?: EventsOptions): AsyncGenerator<JobEvent, void, undefined>;
  /** Phase, failure, steps, usage and cost, findings, pull request. */
  run(id: string, options?: CallOptions): Promise<JobRun>;
  diff(id: string, options?: CallOptions): Promise<JobDiff>;
  /** Asks a finished job for more, on the same branch and pull request. `message(…).wait()` resolves when it is over. */
  message(id: string, body: { prompt: string }, options?: CallOptions): StartedJob;
  /** Stops an active job: it becomes failed. A final job is answered as it is. */
  cancel(id: string, options?: CallOptions): Promise<AgentJob>;
  /** Starts a failed job again where it stopped: finished work is published without asking a model. */
  retry(id: string, options?: CallOptions): Promise<AgentJob>;
  /** Archives a job, stopping it first if it is active. Archiving again changes nothing. */
  archive(id: string, options?: CallOptions): Promise<AgentJob>;
}

/** A client for one Emend service and one key. */
export class Emend {
  readonly #connection: Connection;

  constructor(options: EmendOptions) {
    this.#connection = connection(options);
  }

  jobs(projectId: string): Jobs {
    const deps = this.#connection;
    const wait = (id: string, options: WaitOptions = {}) => waitForJob(deps, projectId, id, options);
    return {
      create: (input, options = {}) => startedJob(createJob(deps, projectId, input, options), wait),
      get: (id, options = {}) => getJob(deps, projectId, id, options.signal),
      list: (options = {}) => listJobs(deps, projectId, options),
      listPage: (options = {}) => listPage(deps, projectId, options),
      wait,
      events: (id, options = {}) => streamEvents(deps, projectId, id, options),
      run: (id, options = {}) => getRun(deps, projectId, id, options.signal),
      diff: (id, options = {}) => getDiff(deps, projectId, id, options.signal),
      message: (id, body, options = {}) => startedJob(messageJob(deps, projectId, id, body, options.signal), wait),
      cancel: (id, options = {}) => cancelJob(deps, projectId, id, options.signal),
      retry: (id, options = {}) => retryJob(deps, projectId, id, options.signal),
      archive: (id, options = {}) => archiveJob(deps, projectId, id, options.signal),
    };
  }
}
