import type { JobDiff } from "@emend/contract";

type ChangedFile = JobDiff["files"][number];

/** The files of a diff that git wrote, with their figures. */
export function diffFiles(diff: string): readonly ChangedFile[] {
  const files: ChangedFile[] = [];
  let isInHunk = false;
  for (const line of diff.split("\n")) {
    if (line.startsWith("diff --git ")) {
      files.push({ path: pathOf(line), change: "modified", additions: 0, deletions: 0 });
      isInHunk = false;
      continue;
    }
    const file = files.at(-1);
    if (file === undefined) continue;
    if (line.startsWith("@@ ")) isInHunk = true;
    else if (!isInHunk) readHeader(file, line);
    else if (line.startsWith("+")) file.additions += 1;
    else if (line.startsWith("-")) file.deletions += 1;
  }
  return files;
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
