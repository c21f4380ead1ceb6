import { redactSecrets } from "@emend/base/secrets/secrets-in.ts";
import { parsePatch } from "@emend/contract";
import { isSourcePath } from "@emend/site";

/** Lines of code that a change replaces by others, with a few lines around them. */
export interface CodeHunk {
  path: string;
  /** The first changed line before the change, 1-based; of lines that were only added, the one above them. */
  line: number;
  removed: readonly string[];
  added: readonly string[];
  /** As in a patch, each line with its sign. */
  text: string;
}

/**
 * The hunks of code in a patch: without pages, tests, lock files and what `isOutside` says. They are stored and shown, so
 * what looks like a credential is taken out.
 */
export async function codeHunks(patch: string, isOutside: (path: string) => boolean): Promise<CodeHunk[]> {
  const hunks: CodeHunk[] = [];
  for (const { path, lines } of parsePatch(await redactSecrets(patch))) {
    if (!isSourcePath(path) || isOutside(path)) continue;
    let current: { line: number; removed: string[]; added: string[]; text: string[] } | null = null;
    let before = 0;
    const end = () => {
      if (current && current.removed.length + current.added.length > 0)
        hunks.push({ path, ...current, text: current.text.join("\n") });
      current = null;
    };
    for (const line of lines) {
      if (line.kind === "hunk") end();
      if (line.kind === "hunk" || line.kind === "note") continue;
      current ??= { line: 0, removed: [], added: [], text: [] };
      if (line.kind === "added") current.added.push(line.text);
      if (line.kind === "deleted") current.removed.push(line.text);
      if (line.kind === "context" || line.kind === "deleted") before = line.before;
      if (line.kind !== "context" && current.line === 0) current.line = Math.max(1, before);
      current.text.push(`${line.kind === "added" ? "+" : line.kind === "deleted" ? "-" : " "}${line.text}`);
    }
    end();
  }
  return hunks;
}

/** As a patch of at most `charactersMax`: the beginning of each hunk, as long as there is room. */
export function shortHunks(hunks: readonly CodeHunk[], charactersMax: number): string {
  // Less than the whole, so that the beginning of one long hunk fits with its place.
  const each = Math.min(charactersMax - 300, Math.max(600, Math.floor(charactersMax / Math.max(1, hunks.length))));
  const shown: string[] = [];
  let left = charactersMax;
  for (const { path, line, text } of hunks) {
    const part = `${path.slice(0, 200)}:${line}\n${text.length > each ? `${text.slice(0, each)}\n…` : text}`;
    if (part.length > left) break;
    left -= part.length;
    shown.push(part);
  }
  if (shown.length < hunks.length) shown.push(`… and ${hunks.length - shown.length} more places`);
  return shown.join("\n\n");
}
