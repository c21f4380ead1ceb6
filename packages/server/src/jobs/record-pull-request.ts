import type { Queryable } from "../db/pool.ts";
import type { Lease } from "./lease.ts";
import { toJsonb } from "./to-jsonb.ts";
import { writeFenced } from "./write-fenced.ts";

export interface RecordedPullRequest {
  number: number;
  url: string;
  state: "open" | "merged" | "closed";
  draft: boolean;
}

/** The wire shows the link only when the job ends: `end-run.ts` copies it. */
export async function recordPullRequest(db: Queryable, lease: Lease, pullRequest: RecordedPullRequest): Promise<void> {
  await writeFenced(db, lease, {
    set: "pull_request = $5::jsonb, pushed = true",
    values: [toJsonb(pullRequest)],
    event: { kind: "pull_request", data: pullRequest },
  });
}
