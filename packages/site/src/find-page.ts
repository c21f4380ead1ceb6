import { editDistance } from "./links/nearest.ts";
import type { PageNode } from "./links/site-index.ts";
import { isBelow, routeKey } from "./links/target.ts";
import type { Site } from "./site.ts";
import type { Page, PageSearch } from "./types.ts";

const nearestMax = 3;

function nearest(site: Site, words: string): Page[] {
  const goal = words.toLowerCase();
  const scored: { page: Page; score: number }[] = [];
  for (const page of site.pages) {
    const key = routeKey(page.route).toLowerCase();
    const names = [key, key.slice(key.lastIndexOf("/") + 1), page.title?.toLowerCase() ?? ""];
    const max = Math.max(3, Math.floor(goal.length / 3));
    const score = Math.min(...names.map((name) => editDistance(goal, name, max)));
    const isPart = goal.length > 2 && names.some((name) => name.includes(goal));
    if (score <= max || isPart) scored.push({ page, score: isPart ? Math.min(score, 1) : score });
  }
  scored.sort((a, b) => a.score - b.score || (a.page.path < b.page.path ? -1 : 1));
  return scored.slice(0, nearestMax).map(({ page }) => page);
}

function decide(pages: readonly Page[]): PageSearch | null {
  const distinct = [...new Set(pages)];
  if (distinct.length === 0) return null;
  const [page] = distinct;
  return distinct.length === 1 && page !== undefined ? { kind: "found", page } : { kind: "ambiguous", pages: distinct };
}

/**
 * Accepts a path, a route (with or without extension, docs folder or leading slash), a title, or the last part of a
 * route. To delete or move a page, the last part is not enough and the title must match exactly: after that page is
 * gone, the same words would match another one.
 */
export function findPage(site: Site, words: string, isExact = false): PageSearch {
  const text = words.trim().replace(/^["'`]|["'`]$/g, "");
  const path = text.replace(/^\.?\/+/, "");
  const root = site.root === "" ? "" : `${site.root}/`;
  const base = site.index.model.basePath.replace(/^\//, "");
  const keys = new Set([routeKey(path), routeKey(path.startsWith(root) ? path.slice(root.length) : path)]);
  const isRoute = text.startsWith("/");
  if (text === "") return { kind: "none", nearest: [] };
  const byPath = site.pages.filter((page) => page.path === path || page.path === root + path);
  const byRoute = (): Page[] => site.pages.filter((page) => keys.has(routeKey(page.route)));
  const byFile = (): Page[] => site.pages.filter((page) => keys.has(routeKey(page.path.slice(root.length))));
  /** Adds the first folder of pages that has the page, if the words leave it out. */
  const byHome = (): Page[] => {
    for (const { dir, route } of site.model.homes ?? []) {
      const found = site.pages.filter(
        (page) =>
          (isBelow(page.path, dir) && routeKey(page.path.slice(dir.length + 1)) === routeKey(path)) ||
          (route !== "" && routeKey(page.route) === routeKey(`${route}/${path}`)),
      );
      if (found.length > 0) return found;
    }
    return [];
  };
  const byBase = (): Page[] => {
    const inside = base !== "" && isBelow(path, base) ? routeKey(path.slice(base.length + 1)) : null;
    return site.pages.filter((page) => routeKey(page.route) === inside);
  };
  const byTitle = (): Page[] =>
    site.pages.filter((page) => (isExact ? page.title === text : page.title?.toLowerCase() === text.toLowerCase()));
  const byName = (): Page[] => {
    const name = routeKey(path).toLowerCase();
    return isExact || name.includes("/")
      ? []
      : site.pages.filter((page) => routeKey(page.route).toLowerCase().split("/").at(-1) === name);
  };
  return (
    decide(byPath) ??
    decide(isRoute ? byRoute() : byFile()) ??
    decide(isRoute ? byFile() : byRoute()) ??
    decide(byHome()) ??
    decide(byBase()) ??
    decide(byTitle()) ??
    decide(byName()) ?? { kind: "none", nearest: nearest(site, text) }
  );
}

type Located = { kind: "found"; node: PageNode } | { kind: "refused"; reason: string };

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
