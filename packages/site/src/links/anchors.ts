import { madeMark, unknownId } from "../parse/page-brief.ts";
import { resolveTarget } from "./resolve.ts";
import type { PageResolution, SiteIndex } from "./site-index.ts";
import { decodePath, pageExtension } from "./target.ts";

const includesDepthMax = 8;
const listedMax = 40;

function collect(index: SiteIndex, path: string, into: Set<string>, seen: Set<string>, depth: number): void {
  const node = index.nodes.get(path);
  // Includes may form a cycle.
  if (node === undefined || seen.has(path) || depth > includesDepthMax) return;
  seen.add(path);
  for (const id of node.brief.ids) into.add(id);
  for (const { kind, target } of node.brief.others) {
    if (kind !== "include") continue;
    const found = resolveTarget(index, path, target, "include");
    if (found.kind === "page") collect(index, found.path, into, seen, depth + 1);
    // Content outside the pages is not read.
    else if (found.kind === "file" && pageExtension.test(found.path)) into.add(unknownId);
  }
}

/** The ids on a page, with those of its included partials. */
export function anchorsOf(index: SiteIndex, path: string): ReadonlySet<string> {
  const known = index.anchors.get(path);
  if (known !== undefined) return known;
  const anchors = new Set<string>();
  collect(index, path, anchors, new Set(), 0);
  index.anchors.set(path, anchors);
  return anchors;
}

/** What on a page, or in what it includes, only the build can show: a component, a template. Null if nothing. */
export function whatIsMade(index: SiteIndex, path: string): string | null {
  const ids = anchorsOf(index, path);
  for (const id of ids) if (id.startsWith(madeMark)) return id.slice(madeMark.length);
  if (ids.has(unknownId)) return "text from elsewhere";
  const drawn = index.model.drawnBy?.(index.nodes.get(path)?.brief.fields ?? {}) ?? null;
  if (drawn !== null) return drawn;
  return index.model.elsewhere?.makesIds ?? null;
}

const ownPages = new WeakMap<SiteIndex, ReadonlyMap<string, number>>();

/** Whether most fragments that links name on a page are ids of its own text, though it has text from elsewhere too. */
function isMostlyOwn(index: SiteIndex, path: string): boolean {
  let balances = ownPages.get(index);
  if (balances === undefined) {
    const counted = new Map<string, number>();
    for (const { path: from, brief } of index.nodes.values()) {
      for (const target of brief.links) {
        if (!target.includes("#")) continue;
        const found = resolveTarget(index, from, target, "link");
        if (found.kind !== "page" || found.hash === null) continue;
        const ids = anchorsOf(index, found.path);
        if (ids.has(unknownId))
          counted.set(found.path, (counted.get(found.path) ?? 0) + (ids.has(found.hash) ? 1 : -1));
      }
    }
    balances = counted;
    ownPages.set(index, counted);
  }
  return (balances.get(path) ?? 0) > 0;
}

/** The translation of a page, in the language of another page, that has a fragment. */
export function translationWith(index: SiteIndex, from: string, path: string, hash: string): string | null {
  const language = /\.[a-z]{2}(?:-[a-z]{2,4})?(?=\.mdx?$)/i.exec(from)?.[0];
  const named = language === undefined ? [] : [path.replace(/(?=\.mdx?$)/, language)];
  const others = [...(index.model.translationsOf?.(path) ?? []), ...named];
  return others.find((other) => index.nodes.has(other) && anchorFit(index, other, hash) === "exact") ?? null;
}

/** Without an exact slug rule, ids are still in lower case, so a capital is a mistake. */
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
// With fewer than this, mismatches may be mistakes.
const looseMin = 20;

/** Whether the site uses a custom slug rule, judging by links of pages to their own headings. */
function hasOwnRule(index: SiteIndex): boolean {
  const known = ownRules.get(index);
  if (known !== undefined) return known;
  let exact = 0;
  let loose = 0;
  for (const { brief } of index.nodes.values()) {
    if (exact + loose > samplesMax) break;
    for (const target of brief.links) {
      // Slug rules differ only between words.
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

/** Fragments that every page has, and fragments that are not ids: text fragments, line numbers, client-side routes. */
function isUniversal(hash: string): boolean {
  const first = hash.charCodeAt(0);
  // A fast path: nearly all fragments start with a lower-case letter, and only "top" of these does.
  if (first > 96 && first < 123) return hash === "top";
  return hash === "" || hash === "_top" || hash.startsWith(":~:") || /^(?:\/|L\d|!)/.test(hash);
}

/** Whether the page of a resolved target has exactly the target's fragment, if it has one. */
export function isAnchored(index: SiteIndex, found: PageResolution): boolean {
  if (found.hash === null || found.seenIn === index.state) return true;
  if (anchorFit(index, found.path, found.hash) !== "exact") return false;
  found.seenIn = index.state;
  return true;
}

export function hasAnchor(index: SiteIndex, path: string, hash: string): boolean {
  return anchorFit(index, path, hash) !== "none";
}

/** How a fragment matches a page: exactly (or it cannot be judged), by letters and digits only, or not at all. */
export function anchorFit(index: SiteIndex, path: string, hash: string): "exact" | "loose" | "none" {
  if (isUniversal(hash)) return "exact";
  const id = hash.includes(":~:") ? (hash.split(":~:")[0] as string) : hash;
  const own = index.nodes.get(path)?.brief.ids;
  // Most pages have few headings: a linear search is faster than building a set.
  if (own !== undefined && own.length <= listedMax && own.includes(id)) return "exact";
  const ids = anchorsOf(index, path);
  if (ids.has(id)) return "exact";
  if (ids.has(unknownId) && !isMostlyOwn(index, path)) return "exact";
  const { looseAnchors = false } = index.model;
  if (looseAnchors === "unknown") return "exact";
  // A generator with a custom slug rule may create ids for more than headings.
  if (looseAnchors === "unless own") return hasOwnRule(index) ? "exact" : "none";
  return looseAnchors && fitsLoosely(ids, id) ? "loose" : "none";
}
