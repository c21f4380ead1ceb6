import { Readable, Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { createInflate } from "node:zlib";
import type { SeatBounds } from "@emend/base/locks.ts";
import { createPatchReader, type JobDiff, type PatchFile } from "@emend/contract";
import type { Queryable } from "../../db/pool.ts";
import { isJobId } from "../wire-job.ts";

type ChangedFile = JobDiff["files"][number];

export function diffFiles(diff: string): readonly ChangedFile[] {
  const reader = createPatchReader();
  reader.read(diff);
  return reader.end().map(toChangedFile);
}

function toChangedFile({ path, change, additions, deletions, pathBefore }: PatchFile): ChangedFile {
  return { path, change, additions, deletions, ...(pathBefore !== null && { from: pathBefore }) };
}

/** A diff is decompressed while it is sent, so it takes only its stored size in memory, however slow the reader is. */
const smallBytesMax = 64 * 1024;
/** A stored diff has up to 16 MiB, and a slow reader keeps it in memory. */
export const largeDiffs: SeatBounds = { perHolderMax: 4, allMax: 8 };

/** While a job works, the change so far; of a follow-up, what its round has changed. */
const shownDiff = "case when status = 'active' then coalesce(working_diff, diff) else diff end";

type OpenedDiff = { kind: "opened"; deflated: Buffer | null } | { kind: "unknown_job" } | { kind: "busy" };

/** Opens a job's stored diff. A large one is read only if `takeSeat` has a free slot. */
export async function openDiff(
  db: Queryable,
  job: { id: string; projectId: string },
  takeSeat: () => boolean,
): Promise<OpenedDiff> {
  if (!isJobId(job.id)) return { kind: "unknown_job" };
  const values = [job.id, job.projectId];
  const measured = await db.query<{ bytes: number | null }>(
    `select octet_length(${shownDiff}) as bytes from jobs where id = $1 and project_id = $2`,
    values,
  );
  const [row] = measured.rows;
  if (row === undefined) return { kind: "unknown_job" };
  if ((row.bytes ?? 0) > smallBytesMax && !takeSeat()) return { kind: "busy" };
  const { rows } = await db.query<{ diff: Buffer | null }>(
    `select ${shownDiff} as diff from jobs where id = $1 and project_id = $2`,
    values,
  );
  return { kind: "opened", deflated: rows[0]?.diff ?? null };
}

/** The diff's text, decompressed while it is read. */
export function diffText(deflated: Buffer | null): Readable {
  return deflated === null ? Readable.from([]) : Readable.from([deflated]).pipe(createInflate());
}

/** The diff with its files and figures, as JSON. */
export function diffJson(deflated: Buffer | null): Readable {
  const decoder = new StringDecoder("utf8");
  const reader = createPatchReader();
  const quoted = (text: string) => {
    reader.read(text);
    return JSON.stringify(text).slice(1, -1);
  };
  const asJson = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      done(null, quoted(decoder.write(chunk)));
    },
    flush(done) {
      const rest = quoted(decoder.end());
      const files: JobDiff["files"] = reader.end().map(toChangedFile);
      done(null, `${rest}","files":${JSON.stringify(files)}}`);
    },
  });
  asJson.push('{"diff":"');
  return diffText(deflated).pipe(asJson);
}
