import { locatePage } from "../find-page.ts";
import { hasAnchor } from "../links/anchors.ts";
import { resolveTarget } from "../links/resolve.ts";
import type { PageNode, SiteIndex } from "../links/site-index.ts";
import { idRange } from "../links/target.ts";
import type { Heading, Link } from "../parse/dialect.ts";
import { targetsOf } from "../parse/page-brief.ts";
import { readFacts } from "../parse/read-page-facts.ts";
import { scanText } from "../parse/scan-page.ts";
import type { Site } from "../site.ts";
import { applySplices, toByteString } from "../text/bytes.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, type EditPlan, refuse, replaceRange } from "./edit-plan.ts";

interface Reanchor {
  /** Records which ids of a page change with its new text. Texts are byte strings. */
  changed(node: PageNode, oldText: string, newText: string): void;
  /** Rewrites the fragments of links to those ids. */
  apply(): Promise<void>;
}

export function createReanchor(site: Site, plan: EditPlan): Reanchor {
  const renamed = new Map<string, Map<string, string>>();

  function changed(node: PageNode, oldText: string, newText: string): void {
    const dialect = site.model.dialect(node.path);
    const after = scanText(newText, dialect).headings;
    const before = scanText(oldText, dialect).headings;
    if (after.length !== before.length) return;
    const ids = new Map<string, string>();
    before.forEach((heading, i) => {
      const id = after[i]?.id;
      if (id !== undefined && id !== heading.id) ids.set(heading.id, id);
    });
    if (ids.size > 0) renamed.set(node.path, ids);
  }

  /** A partial's headings are anchors of the pages that include it. */
  function spreadToIncluders(): void {
    for (const node of site.index.nodes.values()) {
      for (const { kind, target } of node.brief.others) {
        if (kind !== "include") continue;
        const found = resolveTarget(site.index, node.path, target, "include");
        const ids = found.kind === "page" ? renamed.get(found.path) : undefined;
        if (ids !== undefined && found.kind === "page" && found.path !== node.path) {
          renamed.set(node.path, new Map([...ids, ...(renamed.get(node.path) ?? [])]));
        }
      }
    }
  }

  function newId(node: PageNode, link: Pick<Link, "kind" | "target">): string | null {
    if (idRange(link.target, site.model.framework) === null) return null;
    const found = resolveTarget(site.index, node.path, link.target, link.kind);
    if (found.kind !== "page" || found.hash === null) return null;
    return renamed.get(found.path)?.get(found.hash) ?? null;
  }

  async function apply(): Promise<void> {
    if (renamed.size === 0) return;
    spreadToIncluders();
    const breathe = createTimeSlice();
    for (const node of site.index.nodes.values()) {
      const turn = breathe();
      if (turn !== undefined) await turn;
      if (!targetsOf(node.brief).some((link) => newId(node, link) !== null)) continue;
      const affected = (await readFacts(site, node)).links.filter((link) => newId(node, link) !== null);
      const bytes = await site.tree.read(node.path);
      if (bytes === null) continue;
      const text = toByteString(bytes);
      for (const link of affected) {
        const range = idRange(text.slice(link.start, link.end), site.model.framework);
        const id = newId(node, link);
        if (range === null || id === null) continue;
        plan.splice(node.path, replaceRange(link.start + range[0], link.start + range[1], id));
        plan.count("links");
      }
    }
  }

  return { changed, apply };
}

export interface MovedAnchor {
  path: string;
  id: string;
}

/** The new page of a moved heading: known if exactly one changed page has the id now and did not have it before. */
export function createMovedAnchors(base: Site, head: Site): (from: PageNode, link: Link) => MovedAnchor | null {
  const arrivals = new Map<string, string[]>();
  for (const node of head.index.nodes.values()) {
    const before = base.index.nodes.get(node.path);
    if (before?.hash === node.hash || node.isPartial) continue;
    const had = new Set(before?.brief.ids);
    for (const id of node.brief.ids) {
      if (!had.has(id)) arrivals.set(id, [...(arrivals.get(id) ?? []), node.path]);
    }
  }
  return (from, link) => {
    const place = base.index.nodes.has(from.path) ? from.path : null;
    if (place === null || arrivals.size === 0) return null;
    const before = resolveTarget(base.index, place, link.target, link.kind);
    if (before.kind !== "page" || before.hash === null || !hasAnchor(base.index, before.path, before.hash)) return null;
    const now = arrivals.get(before.hash)?.filter((path) => path !== before.path) ?? [];
    return now.length === 1 ? { path: now[0] as string, id: before.hash } : null;
  };
}

/** A link to its own page shows no style, so it is written like most links of the site. */
export function linkLike(index: SiteIndex, link: Link): Link {
  let slashes = 0;
  let endings = 0;
  for (const { brief } of index.nodes.values()) {
    for (const { target, kind } of targetsOf(brief)) {
      if (kind !== "link" || target.startsWith("#")) continue;
      slashes += target.startsWith("/") ? 1 : -1;
      if (!target.startsWith("/")) endings += /\.mdx?(?:#|$)/.test(target) ? 1 : -1;
    }
  }
  const hash = link.target.slice(link.target.indexOf("#"));
  const path = slashes > 0 ? "/x" : endings >= 0 ? "./x.md" : "./x";
  return { ...link, target: `${path}${hash}` };
}

export interface RenameHeading {
  page: string;
  /** The heading's text or its id. */
  from: string;
  to: string;
}

/** Renames a heading and updates links to its id. */
export async function renameHeading(site: Site, input: RenameHeading): Promise<Refactoring> {
  const located = locatePage(site, input.page);
  if (located.kind === "refused") return located;
  const { node } = located;
  const to = input.to.trim().replace(/\s+/g, " ");
  const from = input.from.trim().replace(/^#+\s*/, "");
  if (to === "") return refuse("a heading needs a text");
  const { headings } = await readFacts(site, node);
  const found = findHeading(headings, from, node.path);
  const plan = createPlan(site);
  if ("reason" in found) return headings.some(({ text }) => text === to) ? plan.finish() : refuse(found.reason);
  const { heading } = found;
  const taken = headings.find((other) => other !== heading && other.text.toLowerCase() === to.toLowerCase());
  // Both headings would have the same id, and external links would open the wrong one.
  if (taken !== undefined) {
    return refuse(`${node.path} already has a heading "${taken.text}" on line ${taken.line}; choose another text`);
  }
  const bytes = await site.tree.read(node.path);
  if (bytes === null) return refuse(`${node.path} is gone`);
  const splice = replaceRange(heading.start, heading.end, to);
  plan.splice(node.path, splice);
  plan.count("headings");
  const reanchor = createReanchor(site, plan);
  const text = toByteString(bytes);
  reanchor.changed(node, text, applySplices(text, [splice]));
  await reanchor.apply();
  return plan.finish();
}

/** The heading that the words name, by its text or its id. */
export function findHeading(
  headings: readonly Heading[],
  words: string,
  path: string,
): { heading: Heading } | { reason: string } {
  const name = words.trim().replace(/^#+\s*/, "");
  const named = headings.filter((heading) => heading.text === name || heading.id === name);
  const loose = headings.filter((heading) => heading.text.toLowerCase() === name.toLowerCase());
  const found = named.length > 0 ? named : loose;
  const [heading] = found;
  if (heading === undefined) {
    const names = headings.slice(0, 8).map(({ text }) => `"${text}"`);
    return {
      reason: `${path} has no heading "${name}"; ${names.length === 0 ? "it has none" : `it has ${names.join(", ")}`}`,
    };
  }
  if (found.length > 1) return { reason: `${path} has ${found.length} headings "${name}"; name one by its id` };
  return { heading };
}
