import { promisify } from "node:util";
import { deflate } from "node:zlib";
import type { Queryable } from "../db/pool.ts";
import { diffFiles } from "./diff-files.ts";
import type { Lease } from "./lease.ts";
import type { StoredSource } from "./leased-job.ts";
import { toJsonb, toText } from "./to-jsonb.ts";
import { writeFenced } from "./write-fenced.ts";

export interface RecordedChange {
  /** The commit's. */
  title: string;
  /** The pull request's, which is as it was unless a follow-up changed what it is about. */
  pullTitle: string;
  summary: string;
  /** What was done in answer to a message; null: the summary says it. */
  reply: string | null;
  /** The review's verdict, whole: a later run publishes by it without judging again. */
  findings: unknown;
  /** The unified diff; stored here because nodes that serve the API have no mirror. */
  diff: Buffer;
  /** The commit that it is against. */
  diffBase: string;
  limitReached: "budget_exceeded" | "timeout" | null;
  /** What it is founded on, of this round and of earlier ones. */
  sources: readonly StoredSource[];
  /** A credential is in it: nothing of what the agent said and wrote is kept. */
  isWithheld: boolean;
  /** The findings in short, for those who watch. */
  figures: unknown;
}

export async function recordChange(db: Queryable, lease: Lease, change: RecordedChange): Promise<void> {
  await writeFenced(db, lease, {
    set: "title = $5, summary = $6, findings = $7::jsonb, diff = $8, limit_reached = $9, diff_figures = $10::jsonb, sources = $11::jsonb, commit_title = $12, diff_base = $13, reply = $14",
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
    ],
    event: { kind: "findings", data: change.figures },
  });
}

function figuresOf(diff: Buffer): { files: number; additions: number; deletions: number } {
  const files = diffFiles(diff.toString("utf8"));
  return {
    files: files.length,
    additions: files.reduce((sum, file) => sum + file.additions, 0),
    deletions: files.reduce((sum, file) => sum + file.deletions, 0),
  };
}
