import type { AgentJob } from "@emend/contract";
import type { WaitOptions } from "./wait-for-job.ts";

/** A job that was just started: await it for the job as it is, or `.wait()` for the job as it ends. */
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
