import type { JobDiff } from "@emend/contract";

type ChangedFile = JobDiff["files"][number];

/** The files of a diff that git wrote, with their figures, as its text arrives in pieces of whatever length. */
export function createDiffReader(): { read(piece: string): void; end(): readonly ChangedFile[] } {
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
