import type { LeasedJob } from "../jobs/leased-job.ts";

/** A run of this process, from its claim until it is settled. */
export interface ActiveRun {
  readonly job: LeasedJob;
  /** Aborted with the reason: LeaseLost, StopAsked or Released. */
  readonly controller: AbortController;
  /** The process is to stop: the run is given back after its next stored step. */
  draining: boolean;
  /** Past the point where a stop can still be heeded. */
  publishing: boolean;
  /** Something of the job is stored that a failure would throw away: a step, or more. */
  hasWork: boolean;
}

/** The process stops: the run is given back to the queue, for another to go on with. */
export class Released extends Error {
  constructor() {
    super("the run was released");
    this.name = "Released";
  }
}

export function startRun(job: LeasedJob): ActiveRun {
  return {
    job,
    controller: new AbortController(),
    draining: false,
    publishing: job.change !== null,
    hasWork: job.change !== null,
  };
}
