import { unknownId } from "../parse/page-brief.ts";
import { resolveTarget } from "./resolve.ts";
import { pageExtension } from "./route.ts";
import type { PageResolution, SiteIndex } from "./site-index.ts";
import { decodePath } from "./target.ts";

const includesDepthMax = 8;
const listedMax = 40;

function collect(index: SiteIndex, path: string, into: Set<string>, seen: Set<string>, depth: number): void {
  const node = index.nodes.get(path);
  // Includes may form a circle.
  if (node === undefined || seen.has(path) || depth > includesDepthMax) return;
  seen.add(path);
  for (const id of node.brief.ids) into.add(id);
  for (const { kind, target } of node.brief.others) {
    if (kind !== "include") continue;
    const found = resolveTarget(index, path, target, "include");
    if (found.kind === "page") collect(index, found.path, into, seen, depth + 1);
    // Text from outside of the pages is not read.
    else if (found.kind === "file" && pageExtension.test(found.path)) into.add(unknownId);
  }
}

/** The ids on a page, those of the partials it includes too. */
export function anchorsOf(index: SiteIndex, path: string): ReadonlySet<string> {
  const known = index.anchors.get(path);
  if (known !== undefined) return known;
  const anchors = new Set<string>();
  collect(index, path, anchors, new Set(), 0);
  index.anchors.set(path, anchors);
  return anchors;
}

/** Ids are in small letters wherever their rule is not known to the letter, so a capital is a mistake. */
function letters(id: string): string {
  return id.replace(/[^\p{L}\p{N}]/gu, "");
}

function fitsLoosely(ids: Iterable<string>, id: string): boolean {
  const goal = letters(id);
  for (const other of ids) if (letters(other) === goal) return true;
  return false;
}

const ownRules = new WeakMap<SiteIndex, boolean>();
const samplesMax = 2000;
// Fewer may be mistakes.
const looseMin = 20;

/** Whether ids of this site follow a rule of their own, as far as pages' links to themselves show it. */
function hasOwnRule(index: SiteIndex): boolean {
  const known = ownRules.get(index);
  if (known !== undefined) return known;
  let exact = 0;
  let loose = 0;
  for (const { brief } of index.nodes.values()) {
    if (exact + loose > samplesMax) break;
    for (const target of brief.links) {
      // Only between words do the rules differ.
      if (!/^#[^#]*[a-z\d][-_.][a-z\d]/i.test(target)) continue;
      const id = decodePath(target.slice(1));
      if (brief.ids.includes(id)) exact++;
      else if (fitsLoosely(brief.ids, id)) loose++;
    }
  }
  const isUsual = loose >= looseMin && loose > exact;
  ownRules.set(index, isUsual);
  return isUsual;
}

/** Fragments that every page has, and those that are no ids: text fragments, lines of a file, routes of a script. */
function isUniversal(hash: string): boolean {
  const first = hash.charCodeAt(0);
  // Small letters begin nearly all fragments, and none of these but one.
  if (first > 96 && first < 123) return hash === "top";
  return hash === "" || hash === "_top" || hash.startsWith(":~:") || /^(?:\/|L\d|!)/.test(hash);
}

/** Whether the page that a target leads to has the target's fragment to the letter, if it has one. */
export function isAnchored(index: SiteIndex, found: PageResolution): boolean {
  if (found.hash === null || found.seenIn === index.state) return true;
  if (anchorFit(index, found.path, found.hash) !== "exact") return false;
  found.seenIn = index.state;
  return true;
}

export function hasAnchor(index: SiteIndex, path: string, hash: string): boolean {
  return anchorFit(index, path, hash) !== "none";
}

/** How a page has a fragment: to the letter (or nobody can tell), by its letters and digits alone, or not at all. */
export function anchorFit(index: SiteIndex, path: string, hash: string): "exact" | "loose" | "none" {
  if (isUniversal(hash)) return "exact";
  const id = hash.includes(":~:") ? (hash.split(":~:")[0] as string) : hash;
  const own = index.nodes.get(path)?.brief.ids;
  // Most pages have a few headings: looking through them takes less than making a set of them.
  if (own !== undefined && own.length <= listedMax && own.includes(id)) return "exact";
  const ids = anchorsOf(index, path);
  if (ids.has(id) || ids.has(unknownId)) return "exact";
  const { looseAnchors = false } = index.model;
  if (looseAnchors === "unknown") return "exact";
  // A generator that makes ids by a rule of its own may make them of more than headings.
  if (looseAnchors === "unless own") return hasOwnRule(index) ? "exact" : "none";
  return looseAnchors && fitsLoosely(ids, id) ? "loose" : "none";
}
