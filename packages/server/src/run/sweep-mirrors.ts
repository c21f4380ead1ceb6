import type { Pool } from "../db/pool.ts";
import { findActiveJobs } from "../jobs/find-active-jobs.ts";
import type { Mirrors } from "../tree/mirror.ts";

/** Lets go of what final jobs had pinned in this node's mirrors, then collects and, where they are too many, evicts. */
export async function sweepMirrors(deps: { pool: Pool; mirrors: Mirrors }, signal: AbortSignal): Promise<void> {
  for (const projectId of await deps.mirrors.projects()) {
    signal.throwIfAborted();
    const mirror = await deps.mirrors.open(projectId);
    const pinned = await mirror.pinnedJobs();
    if (pinned.length === 0) continue;
    const active = await findActiveJobs(deps.pool, pinned);
    for (const jobId of pinned) if (!active.has(jobId)) await mirror.release(jobId);
  }
  await deps.mirrors.maintain(signal);
}
