import { comparePaths } from "./compare-paths.ts";
import { folderToSearch } from "./search-commit.ts";
import type { CommitTree, OverlayEntry, SearchMatch, SearchQuery } from "./tree.ts";

/** Searches a tree with edits on it: the tree but for the edited paths, and the edits, both by git's own engine. */
export async function searchOverlay(
  tree: CommitTree,
  edits: readonly OverlayEntry[],
  query: SearchQuery,
  signal?: AbortSignal,
): Promise<{ matches: readonly SearchMatch[]; truncated: boolean }> {
  if (edits.length === 0) return tree.search(query, signal);
  const under = folderToSearch(query.under);
  const files = edits.flatMap(({ path, content }) =>
    content && isBelow(path, under) && query.accepts?.(path) !== false ? [{ path, content }] : [],
  );
  const contents = files.map((file) => file.content);
  const [below, edited] = await Promise.all([
    tree.search(query, signal, { except: new Set(edits.map((edit) => edit.path)) }),
    contents.length > 0 ? tree.searchContents(contents, query, signal) : { matches: [], truncated: false },
  ]);
  // Both are the first of their kind by path, so their first together are the first of all.
  const matches = [
    ...below.matches,
    ...edited.matches.map(({ index, ...hit }) => ({ path: files[index]?.path ?? "", ...hit })),
  ].sort((left, right) => comparePaths(left.path, right.path) || left.line - right.line);
  const truncated = below.truncated || edited.truncated || matches.length > query.matchesMax;
  return { matches: matches.slice(0, query.matchesMax), truncated };
}

function isBelow(path: string, under: string | null): boolean {
  if (under === null) return false;
  return under === "" || path === under || path.startsWith(`${under}/`);
}
