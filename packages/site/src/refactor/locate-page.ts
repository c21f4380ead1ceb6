import { findPage } from "../find-page.ts";
import type { PageNode } from "../links/site-index.ts";
import type { Site } from "../site.ts";

export type Located = { kind: "found"; node: PageNode } | { kind: "refused"; reason: string };

/** The page that the words name, or why they are ambiguous. */
export function locatePage(site: Site, words: string, isExact = false): Located {
  const found = findPage(site, words, isExact);
  if (found.kind === "found") {
    const node = site.index.nodes.get(found.page.path);
    if (node !== undefined) return { kind: "found", node };
  }
  if (found.kind === "ambiguous") {
    const names = found.pages.slice(0, 5).map((page) => page.path);
    return { kind: "refused", reason: `"${words}" could be any of ${names.join(", ")}; name one by its path` };
  }
  const near = found.kind === "none" ? found.nearest.map((page) => page.path) : [];
  const hint = near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
  return { kind: "refused", reason: `there is no page "${words}"${hint}` };
}

/** A valid path to write: relative, inside the tree, without special segments. Null if it is not valid. */
export function cleanPath(path: string): string | null {
  const clean = path.trim().replace(/^(?:\.?\/)+/, "");
  const parts = clean.split("/");
  const isOdd = parts.some((part) => part === "" || part === "." || part === ".." || /^\.git/i.test(part));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters have no place in a path
  return isOdd || clean.length > 500 || /[\u0000-\u001f\u007f\\<>:"|?*#]/.test(clean) ? null : clean;
}
