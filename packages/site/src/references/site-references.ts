import { bytesInlineMax, referencesOfLargePage } from "../parse/large-pages.ts";
import type { Site } from "../site.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import { findEarlierVersions } from "./earlier-versions.ts";
import { type CodeReference, findCodeReferences } from "./find-references.ts";

interface PageReferences {
  hash: string;
  references: readonly CodeReference[];
  /** It is of an earlier version, so it describes the code of that version, and none of its references counts. */
  isEarlier?: true;
}

/** The references of a site by page. Pass it to the next call, so that only changed pages are read. */
export type SiteReferences = ReadonlyMap<string, PageReferences>;

export async function readSiteReferences(
  site: Site,
  options: { previous?: SiteReferences; signal?: AbortSignal } = {},
): Promise<SiteReferences> {
  const breathe = createTimeSlice(options.signal);
  const found = new Map<string, PageReferences>();
  const isEarlier = findEarlierVersions([...site.index.nodes.values()].map(({ path }) => path));
  for (const { path, hash, brief } of site.index.nodes.values()) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    if (isEarlier(path)) {
      found.set(path, { hash, references: [], isEarlier: true });
      continue;
    }
    const known = options.previous?.get(path);
    if (known?.hash === hash && known.isEarlier === undefined) {
      found.set(path, known);
      continue;
    }
    const bytes = brief.unread ? null : await site.tree.read(path);
    const read = (bytes?.byteLength ?? 0) > bytesInlineMax ? referencesOfLargePage : findCodeReferences;
    const references = bytes === null ? [] : await read(path, bytes, site.model.dialect(path));
    found.set(path, { hash, references });
  }
  return found;
}
