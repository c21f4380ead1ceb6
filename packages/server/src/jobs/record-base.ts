import type { Queryable } from "../db/pool.ts";
import type { Lease } from "./lease.ts";
import { toText } from "./to-jsonb.ts";
import { writeFenced } from "./write-fenced.ts";

const pathsKeptMax = 200;

export interface RecordedBase {
  commit: string;
  branch: string;
  /** Of a follow-up: files that people changed on the branch since the round before. */
  pushedByPeople?: readonly string[];
}

/** The commit that every later run of this job reads, whatever is pushed to the branch meanwhile. */
export async function recordBase(db: Queryable, lease: Lease, base: RecordedBase): Promise<void> {
  const { commit, branch, pushedByPeople = [] } = base;
  await writeFenced(db, lease, {
    set: `base_commit = $5, base_branch = $6, phase = 'working', people_paths = case when cardinality($7::text[]) > 0
      then array(select distinct unnest(people_paths || $7::text[]) order by 1 limit ${pathsKeptMax})
      else people_paths end`,
    values: [commit, branch, pushedByPeople.slice(0, pathsKeptMax).map(toText)],
    event: { kind: "phase", data: { phase: "working", base: { commit, branch } } },
  });
}
