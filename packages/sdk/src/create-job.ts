import type { AgentJob, CreateJobBody } from "@emend/contract";
import type { Connection } from "./connection.ts";
import { EmendError } from "./errors.ts";
import { jobPath } from "./job-path.ts";
import { parseJob } from "./parse-job.ts";
import { request } from "./request.ts";

export interface CreateOptions {
  /** Made anew for each call unless given; give your own to create once across restarts of your program. */
  idempotencyKey?: string;
  signal?: AbortSignal;
}

/** Creates a job at most once, however often the request had to be sent. */
export async function createJob(
  deps: Connection,
  projectId: string,
  input: CreateJobBody,
  options: CreateOptions,
): Promise<AgentJob> {
  const idempotencyKey = options.idempotencyKey ?? crypto.randomUUID();
  if (!/^[\x20-\x7e]{1,255}$/.test(idempotencyKey)) {
    throw new EmendError("invalid_request", "idempotencyKey must be 1 to 255 printable ASCII characters");
  }
  const response = await request(
    deps,
    {
      method: "POST",
      path: jobPath(projectId),
      headers: { "idempotency-key": idempotencyKey },
      body: input,
    },
    options.signal,
  );
  return parseJob(deps, response);
}
