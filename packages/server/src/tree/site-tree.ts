import type { SiteTree } from "@emend/site";
import { isAppError } from "../errors.ts";
import type { CommitTree, Tree } from "./tree.ts";

/** A git tree for the site package: plain files only, no links or submodules. */
export function siteTreeOf(
  tree: Tree & Partial<Pick<CommitTree, "readMany">>,
  history?: SiteTree["history"],
): SiteTree {
  return {
    ...(history && { history }),
    ...(tree.readMany && { readMany: tree.readMany }),
    async list() {
      const entries = await tree.list();
      return entries
        .filter((entry) => entry.mode === "100644" || entry.mode === "100755")
        .map((entry) => ({ path: entry.path, hash: entry.oid, ...(entry.size === null ? {} : { size: entry.size }) }));
    },
    async read(path) {
      try {
        return await tree.read(path);
      } catch (error) {
        // Too large to read, so not a page.
        if (isAppError(error, "invalid_request")) return null;
        throw error;
      }
    },
  };
}
