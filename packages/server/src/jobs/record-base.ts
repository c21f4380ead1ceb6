import type { Queryable } from "../db/pool.ts";
import type { Lease } from "./lease.ts";
import { writeFenced } from "./write-fenced.ts";

/** The commit that every later run of this job reads, whatever is pushed to the branch meanwhile. */
export async function recordBase(db: Queryable, lease: Lease, base: { commit: string; branch: string }): Promise<void> {
  await writeFenced(db, lease, {
    set: "base_commit = $5, base_branch = $6, phase = 'working'",
    values: [base.commit, base.branch],
    event: { kind: "phase", data: { phase: "working", base } },
  });
}
