/** The right of one run to write to its job. Whoever claims the job next gets another token. */
export interface Lease {
  jobId: string;
  token: string;
}

/** A fenced write found another owner, or none: this run is over, must change nothing more and publish nothing. */
export class LeaseLost extends Error {
  constructor(jobId: string) {
    super(`the lease of ${jobId} is lost`);
    this.name = "LeaseLost";
  }
}

/** Somebody asked for this job to stop before it began to publish. */
export class StopAsked extends Error {
  constructor(jobId: string) {
    super(`${jobId} was asked to stop`);
    this.name = "StopAsked";
  }
}
