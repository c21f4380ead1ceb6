import type { PullRequestState } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";
import type { Lease } from "./lease.ts";
import { toJsonb } from "./to-jsonb.ts";
import { writeFenced } from "./write-fenced.ts";

export type RecordedPullRequest = PullRequestState;

/** A forge's answer holds more, its whole description among it, which no reader of events asked for. */
export function toPullRequest({ number, url, state, draft }: PullRequestState): PullRequestState {
  return { number, url, state, draft };
}

/** The wire shows the link only when the job ends: `end-run.ts` copies it. */
export async function recordPullRequest(db: Queryable, lease: Lease, pullRequest: RecordedPullRequest): Promise<void> {
  await writeFenced(db, lease, {
    set: "pull_request = $5::jsonb, pushed = true",
    values: [toJsonb(toPullRequest(pullRequest))],
    event: { kind: "pull_request", data: toPullRequest(pullRequest) },
  });
}
