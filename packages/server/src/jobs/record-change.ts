import { promisify } from "node:util";
import { deflate } from "node:zlib";
import type { Queryable } from "../db/pool.ts";
import type { Lease } from "./lease.ts";
import { toJsonb, toText } from "./to-jsonb.ts";
import { writeFenced } from "./write-fenced.ts";

export interface RecordedChange {
  title: string;
  summary: string;
  /** The review's verdict, whole: a later run publishes by it without judging again. */
  findings: unknown;
  /** The unified diff; stored here because nodes that serve the API have no mirror. */
  diff: Buffer;
  limitReached: "budget_exceeded" | "timeout" | null;
  /** The findings in short, for those who watch. */
  figures: unknown;
}

export async function recordChange(db: Queryable, lease: Lease, change: RecordedChange): Promise<void> {
  await writeFenced(db, lease, {
    set: "title = $5, summary = $6, findings = $7::jsonb, diff = $8, limit_reached = $9",
    values: [
      toText(change.title),
      toText(change.summary),
      toJsonb(change.findings),
      await promisify(deflate)(change.diff),
      change.limitReached,
    ],
    event: { kind: "findings", data: change.figures },
  });
}
