import type { Site } from "../site.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import { type CodeReference, findCodeReferences } from "./find-references.ts";

/** The references of a site by page. Pass it to the next call, so that only changed pages are read. */
export type SiteReferences = ReadonlyMap<string, { hash: string; references: readonly CodeReference[] }>;

export async function readSiteReferences(
  site: Site,
  options: { previous?: SiteReferences; signal?: AbortSignal } = {},
): Promise<SiteReferences> {
  const breathe = createTimeSlice(options.signal);
  const found = new Map<string, { hash: string; references: readonly CodeReference[] }>();
  for (const { path, hash, brief } of site.index.nodes.values()) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    const known = options.previous?.get(path);
    if (known?.hash === hash) {
      found.set(path, known);
      continue;
    }
    const bytes = brief.unread ? null : await site.tree.read(path);
    const references = bytes === null ? [] : findCodeReferences(path, bytes, site.model.dialect(path));
    found.set(path, { hash, references });
  }
  return found;
}
