import type { JobPhase } from "@emend/contract";
import type { Queryable } from "../db/pool.ts";
import type { Lease } from "./lease.ts";
import { writeFenced } from "./write-fenced.ts";

/** `publishing` is not here: it begins with the stored commit, in `record-commit.ts`. */
export async function setPhase(db: Queryable, lease: Lease, phase: Exclude<JobPhase, "publishing">): Promise<void> {
  await writeFenced(db, lease, { set: "phase = $5", values: [phase], event: { kind: "phase", data: { phase } } });
}
