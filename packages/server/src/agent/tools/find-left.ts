import type { Site, Skipped } from "@emend/site";
import type { Overlay } from "../../tree/tree.ts";

const matchesMax = 200;
const shownMax = 50;

/** Where a term still stands after it was replaced: in code, in a link's target, in a name, in a file that is no page. */
export async function findLeft(
  overlay: Overlay,
  site: Pick<Site, "root" | "pages">,
  term: { from: string; to: string; paths: readonly string[] | null },
  signal: AbortSignal,
): Promise<{ skipped: readonly Skipped[]; skippedMore: number }> {
  // "key" is in every "access key" that took its place.
  if (term.to.toLowerCase().includes(term.from.toLowerCase())) return { skipped: [], skippedMore: 0 };
  const pattern = term.from.trim().replaceAll(/\s+/g, " ");
  const under = site.root === "" ? {} : { under: site.root };
  const { matches } = await overlay.search(
    { pattern, kind: "literal", ignoreCase: true, matchesMax, ...under },
    signal,
  );
  const isWord = wholeWord(pattern);
  const paths = term.paths === null ? null : new Set(term.paths);
  const pages = new Set(site.pages.map((page) => page.path));
  const left = matches.filter(({ path, text }) => (paths?.has(path) ?? true) && isWord.test(text));
  const skipped = left.slice(0, shownMax).map(({ path, line }) => {
    const where = pages.has(path) ? "in code, a link or a name" : "outside of pages";
    return { path, line, reason: `"${pattern}" stays ${where}` };
  });
  return { skipped, skippedMore: left.length - skipped.length };
}

function wholeWord(term: string): RegExp {
  const escaped = term.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, "iu");
}
