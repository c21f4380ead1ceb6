import type { Edits, Refactoring, Skipped } from "@emend/site";
import type { Overlay } from "@emend/tree";
import type { ToolAnswer, ToolContext } from "./tool.ts";

/** The result of a site-wide refactoring, as tools write it and as `emend/rules` parses it. */
export interface Report {
  files: number;
  counts: ReadonlyMap<string, number>;
  skipped: readonly Skipped[];
  /** Not listed. */
  skippedMore: number;
}

const skippedShownMax = 40;
const countPattern = /^([A-Za-z][A-Za-z -]*): (\d+)$/;
const skippedPattern = /^- (.+?):(\d+): (.*)$/;
const morePattern = /^- … (\d+) more$/;

/** Applies a refactoring completely, or refuses it with the reason. */
export async function applyRefactoring(context: ToolContext, refactoring: Refactoring): Promise<ToolAnswer> {
  if (refactoring.kind === "refused") return refactoring;
  for (const path of refactoring.edits.keys()) {
    const refusal = context.refusePath(path);
    if (refusal !== null) return { kind: "refused", reason: refusal };
  }
  await applyEdits(context.overlay, refactoring.edits);
  const shown = refactoring.skipped.slice(0, skippedShownMax);
  return {
    kind: "answer",
    text: formatReport({
      files: refactoring.edits.size,
      counts: new Map(Object.entries(refactoring.counts)),
      skipped: shown,
      skippedMore: refactoring.skipped.length - shown.length,
    }),
  };
}

export function formatReport(report: Report): string {
  const lines = [`files: ${report.files}`];
  for (const [what, count] of report.counts) lines.push(`${what}: ${count}`);
  if (report.skipped.length > 0) lines.push("left alone:");
  for (const { path, line, reason } of report.skipped)
    lines.push(`- ${visible(path)}:${line}: ${reason.replaceAll(/\s+/g, " ")}`);
  if (report.skippedMore > 0) lines.push(`- … ${report.skippedMore} more`);
  return lines.join("\n");
}

/** A name may contain a line break or an invisible character. With escapes it still identifies its file. */
function visible(path: string): string {
  return path.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, (char) =>
    [...char].map((one) => `\\u{${one.codePointAt(0)?.toString(16)}}`).join(""),
  );
}

export function parseReport(text: string): Report {
  const counts = new Map<string, number>();
  const skipped: Skipped[] = [];
  let skippedMore = 0;
  for (const line of text.split("\n")) {
    const [, what, count] = countPattern.exec(line) ?? [];
    const [, path, at, reason] = skippedPattern.exec(line) ?? [];
    const [, more] = morePattern.exec(line) ?? [];
    if (what !== undefined) counts.set(what, Number(count));
    else if (path !== undefined) skipped.push({ path, line: Number(at), reason: reason ?? "" });
    else if (more !== undefined) skippedMore = Number(more);
  }
  const files = counts.get("files") ?? 0;
  counts.delete("files");
  return { files, counts, skipped, skippedMore };
}

/** Applies all edits, or none if the overlay refuses one. */
export async function applyEdits(overlay: Overlay, edits: Edits): Promise<void> {
  const undo: Array<[path: string, before: Buffer | null]> = [];
  // Deletions first: a page may become a folder (auth.md → auth/index.md).
  const inOrder = [...edits].sort(([, a], [, b]) => Number(a !== null) - Number(b !== null));
  try {
    for (const [path, bytes] of inOrder) {
      const before = await overlay.read(path);
      await write(overlay, path, bytes);
      undo.unshift([path, before]);
    }
  } catch (error) {
    for (const [path, before] of undo) await write(overlay, path, before);
    throw error;
  }
}

/** Reverts all edits. */
export async function revertAll(overlay: Overlay, base: { read(path: string): Promise<Buffer | null> }): Promise<void> {
  const before = new Map<string, Buffer | null>();
  for (const { path } of overlay.entries()) before.set(path, await base.read(path));
  await applyEdits(overlay, before);
}

async function write(overlay: Overlay, path: string, bytes: Uint8Array | null): Promise<void> {
  if (bytes === null) return overlay.delete(path);
  await overlay.set(path, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}
