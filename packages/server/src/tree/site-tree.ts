import type { SiteTree } from "@emend/site";
import type { Tree } from "./tree.ts";

/** A git tree as the site package reads it: plain files alone, never links or submodules. */
export function siteTreeOf(tree: Tree): SiteTree {
  return {
    async list() {
      const entries = await tree.list();
      return entries
        .filter((entry) => entry.mode === "100644" || entry.mode === "100755")
        .map((entry) => ({ path: entry.path, hash: entry.oid, ...(entry.size === null ? {} : { size: entry.size }) }));
    },
    read: (path) => tree.read(path),
  };
}
