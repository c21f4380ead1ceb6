import type {
  AgentJob,
  ApproveJobBody,
  CreateJobBody,
  Health,
  JobDiff,
  JobEvent,
  JobList,
  JobRun,
  MessageJobBody,
  ProjectList,
  Upload,
} from "@emend/contract";
import { type Automations, automationsOf } from "./automations.ts";
import { type Claims, claimsOf } from "./claims.ts";
import {
  type CallOptions,
  type Connection,
  connection,
  type EmendOptions,
  forCall,
  type WaitOptions,
} from "./connection.ts";
import type { Quota } from "./errors.ts";
import { type Gates, gatesOf, getHealth } from "./gates.ts";
import {
  answerApproval,
  archiveJob,
  cancelJob,
  createJob,
  getDiff,
  getJob,
  getRun,
  type ListOptions,
  listJobs,
  listPage,
  listProjects,
  messageJob,
  type NewFile,
  publishJob,
  retryJob,
  type StartedJob,
  type StartOptions,
  startedJob,
  uploadFile,
  waitForJob,
} from "./jobs.ts";
import { type EventsOptions, streamEvents } from "./stream-events.ts";

/** A project that the key covers. */
export type Project = ProjectList["projects"][number];

/** The jobs of one project. */
export interface Jobs {
  /** Starts a job. Safe to retry: one call never creates two jobs. `create(…).wait()` resolves when it is finished. */
  create(input: CreateJobBody, options?: StartOptions): StartedJob;
  /** The job's current state. */
  get(id: string, options?: CallOptions): Promise<AgentJob>;
  /** All jobs, newest first, page by page: `for await (const job of jobs.list())`. */
  list(options?: ListOptions): AsyncGenerator<AgentJob, void, undefined>;
  /** One page, and the cursor for the next. */
  listPage(options?: ListOptions & { cursor?: string }): Promise<JobList>;
  /** Resolves with the job when it is completed, archived or failed. A failed job is a result, not an error. */
  wait(id: string, options?: WaitOptions): Promise<AgentJob>;
  /** All events, past and future, across lost connections. Ends when the job is finished. */
  events(id: string, options?: EventsOptions): AsyncGenerator<JobEvent, void, undefined>;
  /** Phase, failure, steps, usage and cost, findings, pull request. */
  run(id: string, options?: CallOptions): Promise<JobRun>;
  /** The unified diff, and the changed files with their figures. */
  diff(id: string, options?: CallOptions): Promise<JobDiff>;
  /**
   * Sends another instruction. A job that works hears it before its next turn, a finished one continues on the same
   * branch and pull request. Safe to retry, like `create`. `message(…).wait()` resolves when it is finished.
   */
  message(id: string, body: MessageJobBody, options?: StartOptions): StartedJob;
  /** Stores a picture or a PDF. Name its id in `files` of a new job or a message. */
  upload(file: NewFile, options?: CallOptions): Promise<Upload>;
  /** Cancels an active job: it becomes failed. A finished job is returned unchanged. */
  cancel(id: string, options?: CallOptions): Promise<AgentJob>;
  /** Restarts a failed job where it stopped: finished work is published without asking a model. */
  retry(id: string, options?: CallOptions): Promise<AgentJob>;
  /** Publishes a completed preview: the very diff that it shows, without asking a model. */
  publish(id: string, options?: CallOptions): Promise<AgentJob>;
  /**
   * Publishes a change that waits for approval, or whose question nobody answered in time. `remember` allows its
   * constructs on the site from now on. A second answer is a `conflict`.
   */
  approve(id: string, options?: ApproveJobBody & CallOptions): Promise<AgentJob>;
  /** Does not publish such a change: the job fails with `policy_denied`. */
  decline(id: string, options?: CallOptions): Promise<AgentJob>;
  /** Archives a job, stopping it first if it is active. Archiving again changes nothing. */
  archive(id: string, options?: CallOptions): Promise<AgentJob>;
  /** The project's quotas, from this client's latest create and message. Null before. */
  readonly quota: { readonly create: Quota | null; readonly message: Quota | null };
}

/** A client for one Emend service and one key. */
export class Emend {
  readonly #connection: Connection;

  /** Without options, uses `EMEND_URL` and `EMEND_API_KEY`. */
  constructor(options: EmendOptions = {}) {
    this.#connection = connection(options);
  }

  /** The projects that the key covers, oldest first. */
  projects(options: CallOptions = {}): Promise<Project[]> {
    return listProjects(forCall(this.#connection, options), options.signal);
  }

  /** What the pages of a project rely on, by the project's id (`prj_…`). */
  claims(projectId: string): Claims {
    return claimsOf((options) => forCall(this.#connection, options), projectId);
  }

  /** What starts jobs of a project by itself, by the project's id (`prj_…`). */
  automations(projectId: string): Automations {
    return automationsOf((options) => forCall(this.#connection, options), projectId);
  }

  /** The statuses that Emend sets on a project's pull requests, by the project's id (`prj_…`). */
  gates(projectId: string): Gates {
    return gatesOf((options) => forCall(this.#connection, options), projectId);
  }

  /** What the newest check of a project's site found, what no longer agrees with the code included. */
  health(projectId: string, options: CallOptions = {}): Promise<Health> {
    return getHealth(forCall(this.#connection, options), projectId, options.signal);
  }

  /** The jobs of a project, by its id (`prj_…`). */
  jobs(projectId: string): Jobs {
    const of = (options: CallOptions) => forCall(this.#connection, options);
    const quota: { create: Quota | null; message: Quota | null } = { create: null, message: null };
    const onQuota = (one: Quota) => {
      quota[one.of] = one;
    };
    const wait = (id: string, options: WaitOptions = {}) => waitForJob(of(options), projectId, id, options);
    return {
      create: (input, options = {}) =>
        startedJob(createJob(of(options), projectId, input, { ...options, onQuota }), wait),
      get: (id, options = {}) => getJob(of(options), projectId, id, options.signal),
      list: (options = {}) => listJobs(of(options), projectId, options),
      listPage: (options = {}) => listPage(of(options), projectId, options),
      wait,
      events: (id, options = {}) => streamEvents(of(options), projectId, id, options),
      run: (id, options = {}) => getRun(of(options), projectId, id, options.signal),
      diff: (id, options = {}) => getDiff(of(options), projectId, id, options.signal),
      message: (id, body, options = {}) =>
        startedJob(messageJob(of(options), projectId, id, body, { ...options, onQuota }), wait),
      upload: (file, options = {}) => uploadFile(of(options), projectId, file, options.signal),
      cancel: (id, options = {}) => cancelJob(of(options), projectId, id, options.signal),
      retry: (id, options = {}) => retryJob(of(options), projectId, id, options.signal),
      publish: (id, options = {}) => publishJob(of(options), projectId, id, options.signal),
      approve: (id, { remember = false, ...options } = {}) =>
        answerApproval(of(options), projectId, id, "approve", { remember }, options.signal),
      decline: (id, options = {}) => answerApproval(of(options), projectId, id, "decline", {}, options.signal),
      archive: (id, options = {}) => archiveJob(of(options), projectId, id, options.signal),
      quota,
    };
  }
}
