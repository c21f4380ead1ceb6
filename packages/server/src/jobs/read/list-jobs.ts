import { hash } from "node:crypto";
import type { JobStatus } from "@emend/contract";
import type { Queryable } from "../../db/pool.ts";
import { isJobId, toJobText, type WireRow, wireColumns } from "../wire-job.ts";

interface JobPage {
  /** Newest first, each serialized for the API. */
  jobs: readonly string[];
  /** Null if there are no more. */
  next: string | null;
}

/** Ids sort by creation, so the cursor is the last id. */
export async function listJobs(
  db: Queryable,
  projectId: string,
  options: { status: JobStatus | null; before: string | null; limit: number },
): Promise<JobPage> {
  const { rows } = await db.query<WireRow>({
    name: options.status === null ? "list-jobs" : "list-jobs-by-status",
    text: `select ${wireColumns} from jobs
      where project_id = $1 and id < coalesce($2, '~') ${options.status === null ? "and $4::text is null" : "and status = $4"}
      order by id desc limit $3`,
    values: [projectId, options.before, options.limit + 1, options.status],
  });
  const shown = rows.slice(0, options.limit);
  return { jobs: shown.map(toJobText), next: rows.length > shown.length ? (shown.at(-1)?.id ?? null) : null };
}

interface Listing {
  projectId: string;
  status: JobStatus | null;
}

/**
 * A cursor for one listing. It is harmless if shared, because it only marks a position in the key's own project. The
 * checksum refuses one that was altered, truncated, or taken from another listing.
 */
export function toCursor(listing: Listing, lastId: string): string {
  return Buffer.from(`${lastId}.${checkOf(listing, lastId)}`).toString("base64url");
}

/** The id after which the page starts. Null if the text is not a cursor of this listing. */
export function fromCursor(listing: Listing, cursor: string): string | null {
  const [lastId = ""] = Buffer.from(cursor, "base64url").toString("latin1").split(".");
  return isJobId(lastId) && toCursor(listing, lastId) === cursor ? lastId : null;
}

function checkOf(listing: Listing, lastId: string): string {
  return hash("sha256", JSON.stringify(["jobs", listing.projectId, listing.status, lastId]), "base64url").slice(0, 12);
}

/** The jobs that have not ended. */
export async function findActiveJobs(db: Queryable, ids: readonly string[]): Promise<ReadonlySet<string>> {
  const { rows } = await db.query<{ id: string }>(
    "select id from jobs where id = any($1::text[]) and status = 'active'",
    [ids],
  );
  return new Set(rows.map((row) => row.id));
}
