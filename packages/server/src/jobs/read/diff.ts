import { Readable, Transform } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { createInflate } from "node:zlib";
import type { JobDiff } from "@emend/contract";
import type { Queryable } from "../../db/pool.ts";
import type { SeatBounds } from "../../lib/semaphore.ts";
import { isJobId } from "../wire-job.ts";

type ChangedFile = JobDiff["files"][number];

/** The files of a diff that git wrote, with their figures, as its text arrives in pieces of whatever length. */
function createDiffReader(): { read(piece: string): void; end(): readonly ChangedFile[] } {
  const files: ChangedFile[] = [];
  let isInHunk = false;
  let begun: string[] = [];

  function readLine(line: string): void {
    if (line.startsWith("diff --git ")) {
      files.push({ path: pathOf(line), change: "modified", additions: 0, deletions: 0 });
      isInHunk = false;
      return;
    }
    const file = files.at(-1);
    if (file === undefined) return;
    if (line.startsWith("@@ ")) isInHunk = true;
    else if (!isInHunk) readHeader(file, line);
    else if (line.startsWith("+")) file.additions += 1;
    else if (line.startsWith("-")) file.deletions += 1;
  }

  return {
    read(piece) {
      const lines = piece.split("\n");
      const rest = lines.pop() as string;
      if (lines.length > 0) {
        readLine(begun.join("") + lines[0]);
        for (const line of lines.slice(1)) readLine(line);
        begun = [];
      }
      begun.push(rest);
    },
    end() {
      readLine(begun.join(""));
      return files;
    },
  };
}

export function diffFiles(diff: string): readonly ChangedFile[] {
  const reader = createDiffReader();
  reader.read(diff);
  return reader.end();
}

function readHeader(file: ChangedFile, line: string): void {
  if (line.startsWith("new file ")) file.change = "added";
  else if (line.startsWith("deleted file ")) file.change = "deleted";
  else if (line.startsWith("rename to ")) {
    file.change = "renamed";
    file.path = unquote(line.slice("rename to ".length));
  } else if (/^(\+\+\+ "?b|--- "?a)\//.test(line)) file.path = unquote(line.slice(4)).slice(2);
}

/** Both names are the same here, or a later line says better: the second half is the path. */
function pathOf(header: string): string {
  const names = header.slice("diff --git ".length);
  const second = names.slice(names.length / 2 + 0.5);
  return unquote(second).replace(/^b\//, "");
}

/** git writes odd names in double quotes, with C's escapes and bytes in octal; a name that ends oddly has a tab after it. */
function unquote(name: string): string {
  if (!name.startsWith('"')) return name.replace(/\t$/, "");
  const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", a: "\x07", b: "\b", f: "\f", v: "\v" };
  const bytes = Buffer.from(name.slice(1, -1)).toString("latin1");
  const plain = bytes.replace(/\\([0-7]{3}|.)/g, (_all, code: string) =>
    code.length === 3 ? String.fromCharCode(Number.parseInt(code, 8)) : (escapes[code] ?? code),
  );
  return Buffer.from(plain, "latin1").toString("utf8");
}

/** What a diff takes of this process while it is sent: only what is stored, however slowly it is read. */
const smallBytesMax = 64 * 1024;
/** A stored diff has up to 16 MiB, and whoever reads slowly holds it. */
export const largeDiffs: SeatBounds = { perHolderMax: 4, allMax: 8 };

type OpenedDiff = { kind: "opened"; deflated: Buffer | null } | { kind: "unknown_job" } | { kind: "busy" };

/** A job's diff as it is stored. A large one is read once `takeSeat` has said that there is room for it, and not before. */
export async function openDiff(
  db: Queryable,
  job: { id: string; projectId: string },
  takeSeat: () => boolean,
): Promise<OpenedDiff> {
  if (!isJobId(job.id)) return { kind: "unknown_job" };
  const values = [job.id, job.projectId];
  const measured = await db.query<{ bytes: number | null }>(
    "select octet_length(diff) as bytes from jobs where id = $1 and project_id = $2",
    values,
  );
  const [row] = measured.rows;
  if (row === undefined) return { kind: "unknown_job" };
  if ((row.bytes ?? 0) > smallBytesMax && !takeSeat()) return { kind: "busy" };
  const { rows } = await db.query<{ diff: Buffer | null }>(
    "select diff from jobs where id = $1 and project_id = $2",
    values,
  );
  return { kind: "opened", deflated: rows[0]?.diff ?? null };
}

/** The diff's text, made as it is read. */
export function diffText(deflated: Buffer | null): Readable {
  return deflated === null ? Readable.from([]) : Readable.from([deflated]).pipe(createInflate());
}

/** The same with its files and figures, as JSON. */
export function diffJson(deflated: Buffer | null): Readable {
  const decoder = new StringDecoder("utf8");
  const reader = createDiffReader();
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
      const files: JobDiff["files"] = [...reader.end()];
      done(null, `${rest}","files":${JSON.stringify(files)}}`);
    },
  });
  asJson.push('{"diff":"');
  return diffText(deflated).pipe(asJson);
}
