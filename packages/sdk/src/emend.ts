import type { AgentJob, CreateJobBody } from "@emend/contract";
import { archiveJob } from "./archive-job.ts";
import { type Connection, connection, type EmendOptions } from "./connection.ts";
import { type CreateOptions, createJob } from "./create-job.ts";
import { getJob } from "./get-job.ts";
import { type WaitOptions, waitForJob } from "./wait-for-job.ts";

/** The jobs of one project. */
export interface Jobs {
  /** Starts a job. Retried safely: the same call never makes two. */
  create(input: CreateJobBody, options?: CreateOptions): Promise<AgentJob>;
  get(id: string, options?: { signal?: AbortSignal }): Promise<AgentJob>;
  /** Resolves with the job once it is completed, archived or failed; a failed job is a result, not an error. */
  wait(id: string, options?: WaitOptions): Promise<AgentJob>;
  /** Archives a job, stopping it first if it is active. Archiving again changes nothing. */
  archive(id: string, options?: { signal?: AbortSignal }): Promise<AgentJob>;
}

/** A client for one Emend service and one key. */
export class Emend {
  readonly #connection: Connection;

  constructor(options: EmendOptions) {
    this.#connection = connection(options);
  }

  jobs(projectId: string): Jobs {
    const deps = this.#connection;
    return {
      create: (input, options = {}) => createJob(deps, projectId, input, options),
      get: (id, options = {}) => getJob(deps, projectId, id, options.signal),
      wait: (id, options = {}) => waitForJob(deps, projectId, id, options),
      archive: (id, options = {}) => archiveJob(deps, projectId, id, options.signal),
    };
  }
}
