import type { MirrorContext } from "./mirror-context.ts";
import { grep } from "./search.ts";
import type { SearchMatch, SearchQuery, TreeIndex } from "./tree.ts";

const excludedMax = 1_000;

/** Searches a commit as it lies in the mirror. */
export async function searchCommit(
  context: MirrorContext,
  input: { commit: string; index: TreeIndex; query: SearchQuery; except?: ReadonlySet<string> },
  signal: AbortSignal,
): Promise<{ matches: readonly SearchMatch[]; truncated: boolean }> {
  const { commit, query, except } = input;
  const under = folderToSearch(query.under);
  if (under === null) return { matches: [], truncated: false };
  const matches: SearchMatch[] = [];
  const { complete } = await grep(
    context.git,
    {
      gitDir: context.place.gitDir,
      query,
      objects: [commit],
      pathspecs: [...(under ? [`:(literal)${under}`] : []), ...tooLarge(input.index, context.limits.fileBytesMax)],
      timeMsMax: context.limits.searchMsMax,
      onHit({ source, ...hit }) {
        const path = source.slice(commit.length + 1);
        if (!except?.has(path) && query.accepts?.(path) !== false) matches.push({ path, ...hit });
        return matches.length <= query.matchesMax;
      },
    },
    signal,
  );
  return { matches: matches.slice(0, query.matchesMax), truncated: !complete };
}

/** Empty: everywhere. Null: no file can be there, and git would complain. */
export function folderToSearch(under: string | undefined): string | null {
  const folder = (under ?? "").replace(/\/+$/, "");
  if (folder === "") return under?.startsWith("/") ? null : "";
  const plain = folder.isWellFormed() && !folder.includes("\0");
  return plain && folder.split("/").every((part) => part !== "" && part !== "." && part !== "..") ? folder : null;
}

/** Git would unpack each in memory, whatever it weighs: 200 MB of zeros take 200 kB in a pack. */
function tooLarge(index: TreeIndex, fileBytesMax: number): string[] {
  const large = index.list.filter((entry) => (entry.size ?? 0) > fileBytesMax);
  large.sort((left, right) => (right.size ?? 0) - (left.size ?? 0));
  return large.slice(0, excludedMax).map((entry) => `:(exclude,literal)${entry.path}`);
}
