import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Finding, Fix, TextEdit } from "@emend/site";

/** Applies the certain fixes to the files; answers how many. One that overlaps an earlier one is left for the next time. */
export async function applyFixes(dir: string, findings: readonly Finding[]): Promise<number> {
  const taken: TextEdit[] = [];
  let applied = 0;
  for (const { fix } of findings) {
    if (fix === undefined || !isFree(fix, taken)) continue;
    taken.push(...fix.edits);
    applied++;
  }
  for (const [path, edits] of Map.groupBy(taken, (edit) => edit.path)) {
    const bytes = await readFile(join(dir, path));
    const pieces: Buffer[] = [];
    let at = 0;
    for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
      pieces.push(bytes.subarray(at, edit.start), Buffer.from(edit.text));
      at = edit.end;
    }
    await writeFile(join(dir, path), Buffer.concat([...pieces, bytes.subarray(at)]));
  }
  return applied;
}

/** A fix is made whole or not at all. */
function isFree(fix: Fix, taken: readonly TextEdit[]): boolean {
  return fix.edits.every(({ path, start, end }) =>
    taken.every((other) => other.path !== path || other.end <= start || end <= other.start),
  );
}
