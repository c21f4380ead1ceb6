import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Finding, TextEdit } from "@emend/site";

/** Applies the certain fixes to the files; answers how many. Of edits that overlap only the first is made. */
export async function applyFixes(dir: string, findings: readonly Finding[]): Promise<number> {
  const byPath = new Map<string, TextEdit[]>();
  for (const edit of findings.flatMap(({ fix }) => fix?.edits ?? [])) {
    byPath.set(edit.path, [...(byPath.get(edit.path) ?? []), edit]);
  }
  let applied = 0;
  for (const [path, edits] of byPath) {
    const bytes = await readFile(join(dir, path));
    const pieces: Buffer[] = [];
    let at = 0;
    for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
      if (edit.start < at || edit.end > bytes.length) continue;
      pieces.push(bytes.subarray(at, edit.start), Buffer.from(edit.text));
      at = edit.end;
      applied++;
    }
    await writeFile(join(dir, path), Buffer.concat([...pieces, bytes.subarray(at)]));
  }
  return applied;
}
