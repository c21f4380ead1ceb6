import { promisify } from "node:util";
import { deflate } from "node:zlib";
import type { Pool } from "../db/pool.ts";
import { inTransaction } from "../db/transaction.ts";
import type { Lease } from "./lease.ts";
import { type RecordedChange, recordChange } from "./record-change.ts";
import { recordCommit } from "./record-commit.ts";
import type { StoredEdit } from "./record-step.ts";
import { writeFenced } from "./write-fenced.ts";

/** What came of a base branch that moved on while the job worked. */
export type RecordedMove =
  /** The job stands on the new base now, with its edits and its review as they are there. */
  | { kind: "merged"; base: { commit: string; branch: string }; edits: readonly StoredEdit[]; change: RecordedChange }
  /** The job stays on the base it was made from. */
  | { kind: "conflict"; base: { commit: string; branch: string }; paths: readonly string[] };

const pathsKeptMax = 100;

/** Stores the move and the commit made after it together: a later run finds both or neither, and never merges again. */
export async function recordMovedCommit(
  pool: Pool,
  lease: Lease,
  ids: { treeId: string; commitId: string },
  move: RecordedMove,
): Promise<void> {
  const merged = move.kind === "merged" ? move : null;
  const contents = await Promise.all(
    (merged?.edits ?? []).map(({ content }) => content && promisify(deflate)(content)),
  );
  await inTransaction(pool, async (client) => {
    await writeFenced(client, lease, {
      set: "base_commit = coalesce($5, base_commit), base_conflict = $6",
      values: [merged?.base.commit ?? null, move.kind === "conflict" ? move.paths.slice(0, pathsKeptMax) : null],
      event: { kind: "phase", data: { phase: "checking", base: { ...move.base, moved: move.kind } } },
    });
    if (merged) {
      await client.query("delete from overlay where job_id = $1", [lease.jobId]);
      await client.query(
        `insert into overlay (job_id, path, mode, content, deleted)
         select $1, edit.path, edit.mode, edit.content, edit.content is null
         from unnest($2::text[], $3::text[], $4::bytea[]) as edit (path, mode, content)`,
        [lease.jobId, merged.edits.map(({ path }) => path), merged.edits.map(({ mode }) => mode), contents],
      );
      await recordChange(client, lease, merged.change);
    }
    await recordCommit(client, lease, ids);
  });
}
