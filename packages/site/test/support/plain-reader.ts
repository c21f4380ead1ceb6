import { posix } from "node:path";
import type { Layout } from "./random-layouts.ts";

/**
 * A second resolver of a site, which shares no code with the first. It knows files, the routes that a layout gives them, and
 * the few forms of links in random sites.
 */
interface ReadLink {
  /** As written. */
  target: string;
  /** The title of the target page or section. Null if the link is broken. */
  goal: string | null;
  /** The text of the heading that its fragment names. "" without a fragment; null if no heading matches. */
  heading: string | null;
}

export interface ReadPage {
  path: string;
  links: readonly ReadLink[];
  headings: readonly string[];
  /** Everything except the targets of links. */
  rest: string;
}

const linkPattern =
  /(?<=\]\()(?:\{\{< relref "[^"]+" >\}\}|\{% link \S+ %\})?[^)\s]*(?=\))|(?<=href=")[^"]+(?=")|(?<=^\[ref\d+\]: )\S+$|(?<=^import Part from ')[^']+(?=')|(?<=^<!--@include: )\S+(?=-->)|(?<=^\{\{#include )\S+(?=\}\})|(?<=\{doc\}`Page <)[^>]+(?=>`)/gm;

export function readPlainly(layout: Layout, files: ReadonlyMap<string, string>): Map<string, ReadPage> {
  const titles = new Map<string, string>();
  const headings = new Map<string, Map<string, string>>();
  const byRoute = new Map<string, string>();
  for (const [path, text] of files) {
    const title = /^(?:# |title: "?)?((?:Page|Part|Partial) [\w ]+?)"?\.?$/m.exec(text)?.[1];
    if (title === undefined || !path.endsWith(layout.extension)) continue;
    titles.set(path, title);
    if (!title.startsWith("Partial")) byRoute.set(routeKey(layout, layout.route(path)), path);
    const ids = new Map<string, string>();
    for (const [, heading = ""] of text.matchAll(/^## (.+)$/gm))
      ids.set(heading.toLowerCase().replaceAll(" ", "-"), heading);
    headings.set(path, ids);
  }
  const pages = new Map<string, ReadPage>();
  for (const [path, title] of titles) {
    const text = files.get(path) ?? "";
    const links = [...text.matchAll(linkPattern)].map(({ 0: target, index: at }): ReadLink => {
      const [address = "", hash] = target.split("#");
      const isRole = text.slice(at - 12, at) === "{doc}`Page <";
      const goal =
        address === ""
          ? path
          : follow(layout, path, isRole ? `${address}${layout.extension}` : address, byRoute, titles);
      const heading = hash === undefined ? "" : (headings.get(goal ?? "")?.get(hash) ?? null);
      return { target, goal: goal === null ? null : (titles.get(goal) ?? null), heading };
    });
    pages.set(title, {
      path,
      links,
      headings: [...(headings.get(path)?.values() ?? [])],
      rest: text.replace(linkPattern, "…"),
    });
  }
  return pages;
}

/** Most accept an address with and without a trailing slash. */
function routeKey({ isExact }: Layout, route: string): string {
  return isExact === true ? route : route.replace(/(.)\/$/, "$1");
}

function follow(
  layout: Layout,
  from: string,
  address: string,
  byRoute: ReadonlyMap<string, string>,
  titles: ReadonlyMap<string, string>,
): string | null {
  const file = (path: string | undefined): string | null => (path !== undefined && titles.has(path) ? path : null);
  const named = /^\{\{< relref "\/?([^"]+)" >\}\}$|^\{% link (\S+) %\}$/.exec(address);
  if (named !== null) return file(`${layout.root}${named[1] ?? named[2]}`);
  const isFile = address.endsWith(layout.extension);
  const isPart = titles.get(posix.join(posix.dirname(from), address))?.startsWith("Partial") === true;
  if (isFile && (layout.forms.includes("file") || isPart) && !address.startsWith("/")) {
    return file(posix.join(posix.dirname(from), address)) ?? file(original(layout, from, address));
  }
  if (isFile && (layout.include?.isFromTop === true || layout.forms.includes("doc"))) return file(address.slice(1));
  const route = address.startsWith("/") ? address : new URL(address, `http://site${layout.route(from)}`).pathname;
  const scope = address.startsWith("/") ? (layout.scope?.(from) ?? "") : "";
  return byRoute.get(routeKey(layout, scope + route)) ?? byRoute.get(routeKey(layout, route)) ?? null;
}

/** Untranslated pages are served in the original language. */
function original(layout: Layout, from: string, address: string): string | undefined {
  const copy = layout.copies?.find(({ dir }) => from.startsWith(dir));
  if (copy === undefined || layout.scope === undefined) return undefined;
  return posix.join(posix.dirname(layout.root + from.slice(copy.dir.length)), address);
}

/** Navigation entries and redirect targets without a page. */
export function deadEntries(layout: Layout, files: ReadonlyMap<string, string>): string[] {
  const routes = new Set(
    [...files.keys()]
      .filter((path) => path.endsWith(layout.extension))
      .map((path) => routeKey(layout, layout.route(path))),
  );
  return layout.entries(files).filter((route) => !routes.has(routeKey(layout, route)));
}
