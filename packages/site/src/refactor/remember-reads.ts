import type { Site } from "../site.ts";
import type { SiteTree } from "../types.ts";

/** The same site with cached reads: a refactoring reads a page's links, and later its bytes. */
export function rememberReads(site: Site): Site {
  const { tree } = site;
  const known = new Map<string, Promise<Uint8Array | null>>();
  const remembering: SiteTree = {
    ...tree,
    list: () => tree.list(),
    read(path) {
      const bytes = known.get(path) ?? tree.read(path);
      known.set(path, bytes);
      return bytes;
    },
  };
  return { ...site, tree: remembering };
}
