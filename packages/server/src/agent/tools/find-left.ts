import type { Site, Skipped } from "@emend/site";
import type { Overlay } from "../../tree/tree.ts";

const matchesMax = 200;

/** Where a term remains in docs files that are not pages. For pages, the replacement reports this itself. */
export async function findLeft(
  overlay: Overlay,
  site: Pick<Site, "root" | "index">,
  term: { from: string; to: string; paths: readonly string[] | null },
  signal: AbortSignal,
): Promise<readonly Skipped[]> {
  // With a page or folder given, only pages are meant. And "key" is part of every "access key" that replaced it.
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
