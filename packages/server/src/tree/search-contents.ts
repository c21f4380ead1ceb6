import { data, fastImport } from "./fast-import.ts";
import { type MirrorContext, withStore } from "./mirror-context.ts";
import { blobId, type ObjectFormat } from "./object-id.ts";
import { grep, type Hit } from "./search.ts";
import type { ContentMatch, SearchQuery } from "./tree.ts";

/** Below what a command line bears. */
const objectsMax = 10_000;

/**
 * Searches bytes that are in no commit with the very engine that searches commits: they become blobs of the mirror,
 * which nothing points at and a later collection takes, and git is given their ids.
 */
export async function searchContents(
  context: MirrorContext,
  input: { contents: readonly Buffer[]; query: SearchQuery; format: ObjectFormat },
  signal: AbortSignal,
): Promise<{ matches: readonly ContentMatch[]; truncated: boolean }> {
  const { contents, query, format } = input;
  const places = Map.groupBy(contents.keys(), (index) => blobId(contents[index] as Buffer, format));
  const ids = [...places.keys()];
  const matches: ContentMatch[] = [];
  let complete = true;
  // The lock is held while searching, since a collection could take blobs that had been there before.
  await withStore(context, "shared", signal, async (descriptor) => {
    await fastImport(context, blobStream(contents), descriptor, signal);
    for (let start = 0; start < ids.length && complete; start += objectsMax) {
      const objects = ids.slice(start, start + objectsMax);
      const { gitDir } = context.place;
      const { searchMsMax: timeMsMax } = context.limits;
      ({ complete } = await grep(context.git, { gitDir, query, objects, timeMsMax, onHit }, signal));
    }
  });
  matches.sort((left, right) => left.index - right.index || left.line - right.line);
  return { matches: matches.slice(0, query.matchesMax), truncated: !complete || matches.length > query.matchesMax };

  function onHit({ source, ...hit }: Hit): boolean {
    for (const index of places.get(source) ?? []) matches.push({ index, ...hit });
    return matches.length <= query.matchesMax;
  }
}

function* blobStream(contents: readonly Buffer[]): Iterable<Buffer | string> {
  for (const content of contents) {
    yield "blob\n";
    yield* data(content);
  }
}
