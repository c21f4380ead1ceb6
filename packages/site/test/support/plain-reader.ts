import { posix } from "node:path";
import type { Layout } from "./random-site.ts";

/**
 * A second reader of a site, which shares nothing with the first: it knows files, the routes that a layout gives them, and
 * the few forms of links that random sites are made of.
 */
interface ReadLink {
  /** As written. */
  target: string;
  /** The title of the page that it leads to; null where it leads nowhere. */
  goal: string | null;
  /** The text of the heading that its fragment names; "" without a fragment, null where no heading has it. */
  heading: string | null;
}

export interface ReadPage {
  path: string;
  links: readonly ReadLink[];
  /** Everything but the targets of links. */
  rest: string;
}

const linkPattern = /(?<=\]\()[^)\s]+(?=\))|(?<=href=")[^"]+(?=")|(?<=^\[ref\d+\]: )\S+$/gm;

export function readPlainly(layout: Layout, files: ReadonlyMap<string, string>): Map<string, ReadPage> {
  const titles = new Map<string, string>();
  const headings = new Map<string, Map<string, string>>();
  const byRoute = new Map<string, string>();
  for (const [path, text] of files) {
    const title = /^# (Page \w+)/m.exec(text)?.[1];
    if (title === undefined || !path.endsWith(layout.extension)) continue;
    titles.set(path, title);
    byRoute.set(layout.route(path), path);
    const ids = new Map<string, string>();
    for (const [, heading = ""] of text.matchAll(/^## (.+)$/gm))
      ids.set(heading.toLowerCase().replaceAll(" ", "-"), heading);
    headings.set(path, ids);
  }
  const pages = new Map<string, ReadPage>();
  for (const [path, title] of titles) {
    const text = files.get(path) ?? "";
    const links = [...text.matchAll(linkPattern)].map(([target]): ReadLink => {
      const [address = "", hash] = target.split("#");
      const goal = address === "" ? path : follow(layout, path, address, byRoute, titles);
      const heading = hash === undefined ? "" : (headings.get(goal ?? "")?.get(hash) ?? null);
      return { target, goal: goal === null ? null : (titles.get(goal) ?? null), heading };
    });
    pages.set(title, { path, links, rest: text.replace(linkPattern, "…") });
  }
  return pages;
}

function follow(
  layout: Layout,
  from: string,
  address: string,
  byRoute: ReadonlyMap<string, string>,
  titles: ReadonlyMap<string, string>,
): string | null {
  const isFile = address.endsWith(layout.extension) && layout.forms.includes("file");
  if (isFile && !address.startsWith("/")) {
    const path = posix.join(posix.dirname(from), address);
    return titles.has(path) ? path : null;
  }
  if (address.startsWith("/")) return byRoute.get(address) ?? null;
  const base = layout.route(from);
  const joined = new URL(address, `http://site${base}`).pathname;
  return byRoute.get(joined) ?? null;
}

/** Navigation entries and goals of redirects that name no page. */
export function deadEntries(layout: Layout, files: ReadonlyMap<string, string>): string[] {
  const routes = new Set([...files.keys()].filter((path) => path.endsWith(layout.extension)).map(layout.route));
  return layout.entries(files).filter((route) => !routes.has(route));
}
