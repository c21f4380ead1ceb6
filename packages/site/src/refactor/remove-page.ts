import { locatePage } from "../find-page.ts";
import { anchorsOf } from "../links/anchors.ts";
import { resolveTarget } from "../links/resolve.ts";
import { rewriteTarget } from "../links/rewrite.ts";
import type { PageNode } from "../links/site-index.ts";
import { isExternal } from "../links/target.ts";
import { whyNotMove } from "../links/unjudged.ts";
import type { Link } from "../parse/dialect.ts";
import { targetsOf, unknownId } from "../parse/page-brief.ts";
import { readFactsOf } from "../parse/read-page-facts.ts";
import type { Site } from "../site.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { Refactoring } from "../types.ts";
import { removeEntries } from "./edit-navigation.ts";
import { createPlan, type EditPlan, refuse, rememberReads, replaceRange } from "./edit-plan.ts";
import { moveRedirects } from "./redirects.ts";

export interface RemovePage {
  page: string;
  /** The replacement page: links and the old URL point there. */
  to: string;
}

/** Deletes a page in favour of another, and updates links, navigation entries and redirects. */
export async function removePage(opened: Site, input: RemovePage): Promise<Refactoring> {
  const site = rememberReads(opened);
  const goal = locatePage(site, input.to);
  if (goal.kind === "refused") return goal;
  const plan = createPlan(site);
  const located = locatePage(site, input.page, true);
  if (located.kind === "refused") {
    // Already removed: its URL redirects.
    const isGone = site.index.redirectFor(input.page) !== null;
    return isGone ? plan.finish() : located;
  }
  const page = located.node;
  if (page.path === goal.node.path) return refuse(`${page.path} cannot take its own place`);
  if (page.isPartial || goal.node.isPartial) {
    return refuse(`${(page.isPartial ? page : goal.node).path} is not a page, but text that pages include`);
  }
  const blind = whyNotMove(site.index);
  if (blind !== null) return refuse(blind);
  const pairs = withTranslations(site, page, goal.node);
  for (const [gone, next] of pairs) {
    const reason = await removeEntries(site, gone.path, plan);
    if (reason !== null) return refuse(reason);
    await redirectLinks(site, gone, next, new Set(pairs.keys()), plan);
    plan.apply({ file: gone.path, deleted: true });
    plan.count("pages");
  }
  moveRedirects(site, site.index, new Map([...pairs].map(([gone, next]) => [gone.path, next.path])), plan);
  return plan.finish();
}

/**
 * The deleted pages and their replacements. Translations are deleted too, replaced by the other page's translation if
 * it has one.
 */
function withTranslations(site: Site, page: PageNode, goal: PageNode): ReadonlyMap<PageNode, PageNode> {
  const pairs = new Map([[page, goal]]);
  const others = site.model.translationsOf?.(goal.path) ?? [];
  for (const [i, path] of (site.model.translationsOf?.(page.path) ?? []).entries()) {
    const node = site.index.nodes.get(path);
    if (node !== undefined) pairs.set(node, site.index.nodes.get(others[i] ?? "") ?? goal);
  }
  return pairs;
}

async function redirectLinks(
  site: Site,
  page: PageNode,
  goal: PageNode,
  gone: ReadonlySet<PageNode>,
  plan: EditPlan,
): Promise<void> {
  // From a page in another language, the same URL resolves to the translation.
  const goals = (site.model.translationsOf?.(goal.path) ?? []).flatMap((path) => site.index.nodes.get(path) ?? []);
  const breathe = createTimeSlice();
  const concerned: PageNode[] = [];
  for (const node of site.index.nodes.values()) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    if (!gone.has(node) && leadsTo(site, node, page)) concerned.push(node);
  }
  for await (const { node, facts } of readFactsOf(site, concerned)) {
    const { path } = node;
    for (const link of facts.links) {
      if (isExternal(link.target)) continue;
      const found = resolveTarget(site.index, path, link.target, link.kind);
      if (found.kind !== "page" || found.path !== page.path || found.via === "self") continue;
      const write = (to: PageNode): string | null =>
        rewriteTarget(site.index, path, withoutLostAnchor(site, link, to, found.hash), to.path, found.via);
      const text = write(goal) ?? goals.reduce<string | null>((done, to) => done ?? write(to), null);
      if (text === null) plan.skip({ path, line: link.line, reason: `no way to write the link to ${goal.path}` });
      else {
        plan.splice(path, replaceRange(link.start, link.end, text));
        plan.count("links");
      }
    }
  }
}

function leadsTo(site: Site, node: PageNode, page: PageNode): boolean {
  return targetsOf(node.brief).some(({ target, kind }) => {
    const found = resolveTarget(site.index, node.path, target, kind);
    return found.kind === "page" && found.path === page.path;
  });
}

/** Drops the fragment, since the replacement page rarely has the deleted page's heading. */
function withoutLostAnchor(site: Site, link: Link, goal: PageNode, hash: string | null): Link {
  const ids = anchorsOf(site.index, goal.path);
  if (hash === null || ids.has(hash) || ids.has(unknownId)) return link;
  return { ...link, target: link.target.slice(0, link.target.indexOf("#")) };
}
