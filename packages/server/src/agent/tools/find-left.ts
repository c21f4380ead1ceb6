import type { Site, Skipped } from "@emend/site";
import type { Overlay } from "../../tree/tree.ts";

const matchesMax = 200;

/** Where a term still stands in files of the docs that are no pages: of pages, the replacement itself tells. */
export async function findLeft(
  overlay: Overlay,
  site: Pick<Site, "root" | "index">,
  term: { from: string; to: string; paths: readonly string[] | null },
  signal: AbortSignal,
): Promise<readonly Skipped[]> {
  // Below a page or a folder only pages were meant. And "key" is in every "access key" that took its place.
  if (term.paths !== null || term.to.toLowerCase().includes(term.from.toLowerCase())) return [];
  const pattern = term.from.trim().replaceAll(/\s+/g, " ");
  const under = site.root === "" ? {} : { under: site.root };
  const { matches } = await overlay.search(
    { pattern, kind: "literal", ignoreCase: true, matchesMax, ...under },
    signal,
  );
  const isWord = wholeWord(pattern);
  return matches
    .filter(({ path, text }) => !site.index.nodes.has(path) && isWord.test(text))
    .map(({ path, line }) => ({ path, line, reason: `"${pattern}" stays outside of pages` }));
}

function wholeWord(term: string): RegExp {
  const escaped = term.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, "iu");
}
