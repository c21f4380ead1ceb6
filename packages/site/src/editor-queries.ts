import { resolveLinks } from "./check-site.ts";
import { isDocument } from "./frameworks/pages.ts";
import { anchorsOf } from "./links/anchors.ts";
import { resolveTarget } from "./links/resolve.ts";
import { rewriteTarget } from "./links/rewrite.ts";
import type { PageNode, Resolution, Via } from "./links/site-index.ts";
import { isExternal, isTemplate, pageExtension, routeKey } from "./links/target.ts";
import { reasonFor } from "./links/unjudged.ts";
import { pageOfTarget } from "./navigation/find-list.ts";
import type { Heading, Link } from "./parse/dialect.ts";
import { targetsOf } from "./parse/page-brief.ts";
import { readFacts, readFactsOf } from "./parse/read-page-facts.ts";
import type { Site } from "./site.ts";

/** A position in a file that names a page or a file: a link, a navigation entry or a redirect. Offsets are bytes. */
export interface Mention {
  start: number;
  end: number;
  target: string;
  resolution: Resolution;
}

export interface Outline {
  headings: readonly Heading[];
  mentions: readonly Mention[];
}

/** The headings and mentions of one file. */
export async function outlineOf(site: Site, path: string): Promise<Outline> {
  const node = site.index.nodes.get(path);
  const facts = node === undefined ? null : await readFacts(site, node);
  const links = node === undefined || facts === null ? [] : resolveLinks(site.index, node, facts);
  return {
    headings: facts?.headings ?? [],
    mentions: [
      ...links.map(({ link: { start, end, target }, resolution }) => ({ start, end, target, resolution })),
      ...navigationMentions(site, path),
    ],
  };
}

function* navigationMentions({ index }: Site, file: string): Generator<Mention> {
  for (const list of index.model.navigation) {
    for (const { target, targetStart, targetEnd, isForeign } of list.file === file ? list.items : []) {
      if (target === null || isForeign) continue;
      const page = pageOfTarget(index, target);
      const resolution: Resolution = page === null ? { kind: "missing", wanted: target } : pageAt(page);
      yield { start: targetStart, end: targetEnd, target, resolution };
    }
  }
  for (const { to, toRange, file: of } of index.model.redirects) {
    const page = of === file ? index.routes.get(routeKey(to.split(/[?#]/)[0] ?? "")) : undefined;
    if (toRange === undefined || page === undefined) continue;
    yield { start: toRange[0], end: toRange[1], target: to, resolution: pageAt(page) };
  }
}

function pageAt(path: string): Resolution {
  return { kind: "page", path, hash: null, via: "file", seenIn: null };
}

export interface Reference {
  path: string;
  start: number;
  end: number;
}

/** Every mention of a page or file. With an id, only links to that id. */
export async function findReferences(
  site: Site,
  goal: { path: string; id: string | null },
  signal?: AbortSignal,
): Promise<readonly Reference[]> {
  const { index } = site;
  const isGoal = (found: Resolution): boolean =>
    (found.kind === "page" && found.path === goal.path && (goal.id === null || found.hash === goal.id)) ||
    (found.kind === "file" && found.path === goal.path && goal.id === null);
  const concerned: PageNode[] = [];
  for (const node of index.nodes.values()) {
    for (const { kind, target } of targetsOf(node.brief)) {
      if (!isGoal(resolveTarget(index, node.path, target, kind))) continue;
      concerned.push(node);
      break;
    }
  }
  const found: Reference[] = [];
  for await (const { node, facts } of readFactsOf(site, concerned, signal)) {
    for (const { link, resolution } of resolveLinks(index, node, facts)) {
      // A page's links to its own headings are not mentions of the page.
      const isOwn = goal.id === null && resolution.kind === "page" && resolution.via === "self";
      if (isGoal(resolution) && !isOwn) found.push({ path: node.path, start: link.start, end: link.end });
    }
  }
  const files = new Set([...index.model.navigation, ...index.model.redirects].map(({ file }) => file));
  for (const path of goal.id === null ? files : []) {
    for (const { start, end, resolution } of navigationMentions(site, path)) {
      if (isGoal(resolution)) found.push({ path, start, end });
    }
  }
  return found;
}

/** Resolves a target that is, or could be, written in a file. */
export function resolveFrom(site: Site, from: string, target: string): Resolution {
  return resolveTarget(site.index, from, target, "link");
}

/** Why only the build can resolve a target. */
export function whyUnknown(site: Site, target: string): string {
  return reasonFor(site.index, target) ?? "served by the build";
}

/** The ids that links to a page can use. */
export function idsOnPage(site: Site, path: string): readonly string[] {
  return [...anchorsOf(site.index, path)];
}

interface Manner {
  target: string;
  via: Via;
}

/**
 * Writes a link from one page to another. It uses the style of the text already typed, else of the page's links, else
 * of most links of the site. Null if no target resolves to the page.
 */
export function createLinkWriter(site: Site, from: string, typed: string): (to: string) => string | null {
  const manners = mannersFor(site, from, typed);
  return (to) => {
    for (const { target, via } of manners) {
      const link: Link = { kind: "link", target, start: 0, end: 0, line: 1, column: 1 };
      const written = rewriteTarget(site.index, from, link, to, via);
      if (written !== null && (!typed.startsWith("/") || written.startsWith("/"))) return written;
    }
    return null;
  };
}

const samplesMax = 2000;

function mannersFor({ index }: Site, from: string, typed: string): Manner[] {
  const counts = new Map<string, Manner & { count: number }>();
  const own = index.nodes.get(from);
  let samples = 0;
  const count = (node: PageNode, weight: number): void => {
    for (const target of node.brief.links) {
      // The text being typed shows no style yet, and neither does a path of dots.
      if (target === typed || isExternal(target) || /^(?:#|[./]*$)/.test(target)) continue;
      const found = resolveTarget(index, node.path, target, "link");
      if (found.kind !== "page") continue;
      const ending = pageExtension.exec(target.split(/[?#]/)[0] ?? "")?.[0] ?? "";
      const start = /^(?:\/|\.\/)/.exec(target)?.[0] ?? "";
      const sample = { target: `${start}x${ending}`, via: found.via };
      const key = `${sample.target} ${sample.via}`;
      counts.set(key, { ...sample, count: (counts.get(key)?.count ?? 0) + weight });
      samples++;
    }
  };
  if (own !== undefined) count(own, samplesMax);
  for (const node of index.nodes.values()) {
    if (samples > samplesMax) break;
    if (node !== own) count(node, 1);
  }
  const ending = from.endsWith(".mdx") ? ".mdx" : ".md";
  const usual = [...counts.values()].sort((a, b) => b.count - a.count);
  const fallbacks: Manner[] = [
    { target: `./x${ending}`, via: "file" },
    { target: "./x", via: "route" },
    { target: "/x", via: "absolute-route" },
  ];
  const all = [...usual, ...fallbacks];
  if (typed.startsWith("/")) return all.filter(({ target }) => target.startsWith("/"));
  if (!typed.startsWith(".")) return all;
  const relative = all.filter(({ target }) => !target.startsWith("/"));
  return typed.startsWith("./")
    ? relative.map(({ target, via }) => ({ target: `./${target.replace(/^\.\//, "")}`, via }))
    : relative;
}

export interface ExternalLink {
  /** The URL without its fragment. */
  url: string;
  /** The first page that contains it. */
  path: string;
  line: number;
  column: number;
}

// Placeholder names, and hosts that only their own network can resolve.
const noPlace =
  /^(?:localhost|.*\.(?:localhost|test|example|invalid|local|internal)|(?:.*\.)?example\.(?:com|org|net))$/i;
const address = /^(?:[\d.]+|\[.*\])$/;

/** The external URLs in a site's pages, without duplicates. */
export async function externalLinks(site: Site, signal?: AbortSignal): Promise<ExternalLink[]> {
  const links = new Map<string, ExternalLink>();
  for await (const { node, facts } of readFactsOf(site, site.index.nodes.values(), signal)) {
    for (const { target, line, column } of facts.links) {
      const found = /^https?:/i.test(target) && !isTemplate(target) ? URL.parse(target) : null;
      if (found === null || noPlace.test(found.hostname) || address.test(found.hostname)) continue;
      // `https://host/{id}` is a template.
      if (/[{}<>]|%7B|%3C/i.test(target)) continue;
      found.hash = "";
      if (!links.has(found.href)) links.set(found.href, { url: found.href, path: node.path, line, column });
    }
  }
  return [...links.values()];
}

/** The documentation of a repository that the site does not contain. */
export interface Outside {
  /** Markdown files that are not part of the site. */
  documents: number;
  /** Other sites, the largest first. */
  sites: readonly { framework: string; root: string; pages: number }[];
}

export function outsideOf({ index, model }: Site): Outside {
  let documents = 0;
  for (const path of index.files.keys()) if (!index.nodes.has(path) && isDocument(path, "")) documents++;
  return { documents, sites: model.otherSites ?? [] };
}
