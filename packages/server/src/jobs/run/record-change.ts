import { promisify } from "node:util";
import { deflate } from "node:zlib";
import { type Pool, type Queryable, toJsonb, toText } from "../../db/pool.ts";
import { inTransaction } from "../../db/transaction.ts";
import { diffFiles } from "../read/diff.ts";
import type { StoredSource } from "./leased-job.ts";
import { type Lease, LeaseLost, writeFenced } from "./leases.ts";
import type { StoredEdit } from "./record-work.ts";

export interface RecordedChange {
  /** The commit's title. */
  title: string;
  /** The pull request's title. It stays the same unless a follow-up changed its topic. */
  pullTitle: string;
  summary: string;
  /** The reply to a message. Null if the summary says it. */
  reply: string | null;
  /** The complete verdict: a later run publishes without another review. */
  findings: unknown;
  /** The unified diff. Stored here because API nodes have no mirror. */
  diff: Buffer;
  /** The commit that the diff is against. */
  diffBase: string;
  limitReached: "budget_exceeded" | "timeout" | null;
  /** The sources of this and earlier rounds. */
  sources: readonly StoredSource[];
  /** It contains a credential: nothing that the agent said or wrote is kept. */
  isWithheld: boolean;
  /** The findings in short, for events. */
  figures: unknown;
  /** Whom CODEOWNERS names for the files. */
  codeOwners: { people: readonly string[]; teams: readonly string[] } | null;
  /** What kind of change it is, if it is one that a project can have merged. */
  changeKind: string | null;
}

export async function recordChange(db: Queryable, lease: Lease, change: RecordedChange): Promise<void> {
  await writeFenced(db, lease, {
    set: "title = $5, summary = $6, findings = $7::jsonb, diff = $8, limit_reached = $9, diff_figures = $10::jsonb, sources = $11::jsonb, commit_title = $12, diff_base = $13, reply = $14, working_diff = null, code_owners = $15::jsonb, change_kind = $16",
    values: [
      toText(change.pullTitle),
      toText(change.summary),
      toJsonb(change.findings),
      await promisify(deflate)(change.diff),
      change.limitReached,
      toJsonb(figuresOf(change.diff)),
      toJsonb(change.sources),
      toText(change.title),
      change.diffBase,
      change.reply === null ? null : toText(change.reply),
      change.codeOwners && toJsonb(change.codeOwners),
      change.changeKind,
    ],
    event: { kind: "findings", data: change.figures },
  });
}

export function figuresOf(diff: Buffer): { files: number; additions: number; deletions: number } {
  const files = diffFiles(diff.toString("utf8"));
  return {
    files: files.length,
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
  };
}

/**
 * Stores the commit and starts to publish. From here on the job is always completed: a later run pushes this commit without
 * asking the model, and a cancel or an archive waits for the outcome.
 */
export async function recordCommit(
  db: Queryable,
  lease: Lease,
  { treeId, commitId }: { treeId: string; commitId: string },
): Promise<void> {
  await writeFenced(db, lease, {
    set: `tree_id = $5, commit_id = $6, phase = 'publishing', retries = 0,
      waiting_since = case when commit_id is not null then waiting_since end`,
    values: [treeId, commitId],
    event: { kind: "phase", data: { phase: "publishing", commit: commitId } },
  });
}

/** What happened when the base branch moved while the job worked. */
export type RecordedMove =
  /** The job is on the new base now, with merged edits and a new review. */
  | { kind: "merged"; base: { commit: string; branch: string }; edits: readonly StoredEdit[]; change: RecordedChange }
  /** The job stays on its original base. */
  | { kind: "conflict"; base: { commit: string; branch: string }; paths: readonly string[] };

const pathsKeptMax = 100;

/** Stores the move and the commit together: a later run finds both or neither, and never merges again. */
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

/** The branch exists on the forge now. The job keeps showing it, however it ends. */
export async function recordPush(db: Queryable, lease: Lease): Promise<void> {
  const { rowCount } = await db.query("update jobs set pushed = true where id = $1 and lease = $2", [
    lease.jobId,
    lease.token,
  ]);
  if (rowCount === 0) throw new LeaseLost(lease.jobId);
}

/**
 * Until when a request to open the pull request may still take effect, by the database's clock. Stored before it is
 * sent: a run in another process must not send a second one before that. Null: it had no effect.
 */
export async function recordCreate(db: Queryable, lease: Lease, effectMs: number | null): Promise<void> {
  const { rowCount } = await db.query(
    `update jobs set create_until = clock_timestamp() + make_interval(secs => $3), updated_at = clock_timestamp() where id = $1 and lease = $2`,
    [lease.jobId, lease.token, effectMs === null ? null : effectMs / 1000],
  );
  if (rowCount === 0) throw new LeaseLost(lease.jobId);
}
