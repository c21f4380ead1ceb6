import { isAnchored } from "../links/anchors.ts";
import { inBase } from "../links/doubts.ts";
import { resolveTarget } from "../links/resolve.ts";
import type { SiteIndex } from "../links/site-index.ts";
import { dirOf, isBelow, joinPath, pageExtension, routeKey, splitTarget, underDir } from "../links/target.ts";
import { targetsOf } from "../parse/page-brief.ts";
import type { Finding } from "../types.ts";
import {
  brokenAnchor,
  brokenLink,
  brokenNavigation,
  brokenRedirect,
  isListed,
  missingFile,
  redirectProblem,
} from "./links.ts";
import { quoted, targetOf } from "./report.ts";

/**
 * Certainty is earned: a reference that leads nowhere is certainly broken only if the site's other references of its
 * form lead somewhere, and so do those to its place. Otherwise Emend may read the form or the place in another way than
 * the builder does.
 */
type Kind = "link" | "heading" | "entry" | "redirect";

interface Reference {
  kind: Kind;
  /** The file that it is written in. */
  from: string;
  target: string;
}

interface Count {
  hits: number;
  misses: number;
}

interface Census {
  /** All references. */
  site: Count;
  forms: Map<string, Count>;
  /** Folder, and what is looked for in it → what it has of that kind, and what references miss in it. */
  places: Map<string, Count>;
  /** References that lead nowhere. */
  missing: ReadonlySet<string>;
  /** Whether the site has enough pages or references to show how it is read. */
  isLarge: boolean;
  /** Addresses below which there are pages. */
  folders: ReadonlySet<string>;
}

// Fewer that lead somewhere prove no rule, and fewer that do not may each be a mistake.
const countMin = 3;
// A site with fewer pages and references shows no practice: there the framework's rules count.
const siteMin = 20;

// So many are no mistakes if they are only one in five.
const manyMin = 100;

/** Whether so many fail that one cause is more likely than as many mistakes. */
function isContrary({ hits, misses }: Count): boolean {
  return misses >= countMin && misses > hits / (misses < manyMin ? 1 : 4);
}

const noCount: Count = { hits: 0, misses: 0 };
const otherEnding = /\.(?!html?$)[a-z]\w*$/i;

function tally(counts: Map<string, Count>, key: string, field: keyof Count): void {
  const known = counts.get(key);
  if (known === undefined) counts.set(key, { ...noCount, [field]: 1 });
  else known[field]++;
}

/** How a reference is written: where it starts and how it ends. */
function formOf(index: SiteIndex, { kind, from, target }: Reference): string {
  if (kind === "heading") return kind;
  // Frameworks change entries when they read them.
  if (kind === "entry") return `${kind} ${from}`;
  const { path } = splitTarget(plainOf(index, from, target));
  const start = path.startsWith("/") ? "/" : path.startsWith(".") ? "." : "";
  const ending = path.endsWith("/") ? "/" : (/\.[a-z]\w*$/i.exec(path)?.[0].toLowerCase() ?? "");
  return [kind, kind === "redirect" ? from : "", start, ending].join(" ");
}

function plainOf(index: SiteIndex, from: string, target: string): string {
  return index.model.ownTarget?.(target, from, "link")?.plain ?? target;
}

/** Front pages of folders are a kind of their own: some builders make them. */
function routePlace(folders: ReadonlySet<string>, key: string): string {
  return folders.has(key) ? "front page" : `route ${dirOf(key)}`;
}

/** The places where a reference may look, as keys of the census. */
function placesOf(index: SiteIndex, folders: ReadonlySet<string>, { kind, from, target }: Reference): string[] {
  if (kind === "heading") return [];
  const { model } = index;
  const { root, publicDirs, aliases = {} } = model;
  if (kind === "entry") {
    const page = model.navRoute(target);
    if ("route" in page) return [routePlace(folders, routeKey(page.route))];
    return [`${pageExtension.test(page.path) ? ".md" : "any"} ${dirOf(page.path)}`];
  }
  const written = splitTarget(plainOf(index, from, target)).path;
  const path = kind === "redirect" && !written.startsWith("/") ? `/${written}` : written;
  const ending = pageExtension.test(path) ? ".md" : (otherEnding.exec(path)?.[0].toLowerCase() ?? "");
  const isRooted = path.startsWith("/");
  const inside = inBase(index, path);
  const route = index.nodes.get(from)?.route;
  const near = isRooted ? [] : [joinPath(dirOf(from), path)];
  const served = isRooted ? inside.slice(1) : route === undefined ? null : joinPath(dirOf(route), path);
  if (ending === "" || kind === "redirect") {
    const [joined = null] = near;
    const below = joined !== null && isBelow(joined, root) && root !== "" ? joined.slice(root.length + 1) : joined;
    return [below, served, !isRooted && route !== undefined ? joinPath(route, path) : null].flatMap((one) =>
      one === null ? [] : [routePlace(folders, routeKey(one))],
    );
  }
  const aliased = Object.entries(aliases).flatMap(([prefix, dir]) =>
    path.startsWith(prefix) ? [joinPath(dir, path.slice(prefix.length))] : [],
  );
  const dirs = isRooted ? [root, "", ...publicDirs, ...(model.searchDirs?.(from, false) ?? [])] : publicDirs;
  const listed = [...near, ...aliased, ...(served === null ? [] : dirs.map((dir) => underDir(dir, served)))];
  return listed.flatMap((one) => (one === null ? [] : [`${ending} ${dirOf(one)}`]));
}

function* referencesOf(index: SiteIndex): Generator<Reference & { isHit: boolean }> {
  for (const { path: from, brief } of index.nodes.values()) {
    for (const { kind, target } of targetsOf(brief)) {
      const found = resolveTarget(index, from, target, kind);
      if (found.kind === "external" || found.kind === "unknown") continue;
      if (found.kind === "page" && found.hash !== null)
        yield { kind: "heading", from, target, isHit: isAnchored(index, found) };
      yield { kind: "link", from, target, isHit: found.kind !== "missing" };
    }
  }
  for (const { file, to } of index.model.redirects) {
    if (!/^[a-z]+:|[:*$]/i.test(to)) {
      yield { kind: "redirect", from: file, target: to, isHit: redirectProblem(index, "", to) === null };
    }
  }
  for (const { file, items } of index.model.navigation) {
    for (const { target, isForeign } of items) {
      if (target === null || isForeign) continue;
      yield { kind: "entry", from: file, target, isHit: isListed(index, target) };
    }
  }
}

const censuses = new WeakMap<SiteIndex, Census>();

function takeCensus(index: SiteIndex): Census {
  const known = censuses.get(index);
  if (known !== undefined) return known;
  const forms = new Map<string, Count>();
  const places = new Map<string, Count>();
  const folders = new Set<string>();
  for (const key of index.routes.keys()) {
    for (let dir = dirOf(key); dir !== "" && !folders.has(dir); dir = dirOf(dir)) folders.add(dir);
  }
  for (const key of index.routes.keys()) tally(places, routePlace(folders, key), "hits");
  for (const path of index.nodes.keys()) {
    tally(places, `.md ${dirOf(path)}`, "hits");
    tally(places, `any ${dirOf(path)}`, "hits");
  }
  for (const path of index.files.keys()) {
    const ending = otherEnding.exec(path)?.[0].toLowerCase();
    if (ending !== undefined && !pageExtension.test(path)) tally(places, `${ending} ${dirOf(path)}`, "hits");
  }
  const seen = new Set<string>();
  const missing = new Map<string, Reference>();
  for (const { isHit, ...reference } of referencesOf(index)) {
    const key = keyOf(index, reference);
    if (seen.has(key)) continue;
    seen.add(key);
    tally(forms, formOf(index, reference), isHit ? "hits" : "misses");
    if (!isHit) missing.set(key, reference);
  }
  const all = [...forms.values()];
  const census = {
    site: {
      hits: all.reduce((sum, { hits }) => sum + hits, 0),
      misses: all.reduce((sum, { misses }) => sum + misses, 0),
    },
    forms,
    places,
    folders,
    isLarge: Math.max(seen.size, index.routes.size) >= siteMin,
    missing: new Set(missing.keys()),
  };
  for (const reference of missing.values()) {
    const place = bestPlace(census, placesOf(index, folders, reference));
    if (place !== undefined) tally(places, place, "misses");
  }
  censuses.set(index, census);
  return census;
}

const manyAreBroken =
  "more than a fifth of this site's references seem to be broken: Emend may not read the site as its builder does";

/** The same for references that name one thing in one way. */
function keyOf(index: SiteIndex, reference: Reference): string {
  const { kind, from, target } = reference;
  const named = kind === "link" ? splitTarget(plainOf(index, from, target)).path : target;
  const here = named.startsWith("/") ? "" : kind === "heading" ? from : dirOf(from);
  return `${formOf(index, reference)} ${here} ${named}`;
}

/** Of the places where a reference may look, the one that has most. */
function bestPlace({ places }: Pick<Census, "places">, keys: readonly string[]): string | undefined {
  const hitsIn = (key: string): number => places.get(key)?.hits ?? 0;
  return keys.toSorted((a, b) => hitsIn(b) - hitsIn(a))[0];
}

const kinds: Readonly<Record<string, Kind>> = {
  [brokenLink.id]: "link",
  [missingFile.id]: "link",
  [brokenAnchor.id]: "heading",
  [brokenRedirect.id]: "redirect",
  [brokenNavigation.id]: "entry",
};

/**
 * Why a site's own references do not show that a finding is certain. Null if they do. `isChange`: the index is the one
 * before a change. What is new in the change needs no proof: only references that fail speak against it.
 */
export function whyUnearned(index: SiteIndex, finding: Finding, isChange: boolean): string | null {
  const target = targetOf(finding);
  const kind = kinds[finding.check];
  if (target === undefined || kind === undefined) return null;
  const census = takeCensus(index);
  const reference = { kind, from: finding.path, target };
  const form = census.forms.get(formOf(index, reference)) ?? noCount;
  const key = bestPlace(census, placesOf(index, census.folders, reference)) ?? "";
  const place = census.places.get(key) ?? noCount;
  const dir = quoted(`${key.slice(key.indexOf(" ") + 1)}/`);
  const needsProof = isChange ? census.missing.has(keyOf(index, reference)) : census.isLarge;
  if (census.site.misses >= manyMin && isContrary(census.site)) return manyAreBroken;
  // A page shows its headings, so only very many speak against how they are read.
  const isDoubted = kind === "heading" ? form.misses >= manyMin && form.misses > form.hits : isContrary(form);
  if (isDoubted) {
    return `${form.misses} references that are written like this lead nowhere: the builder may read them in another way`;
  }
  if (kind === "heading") return null;
  if (isContrary(place)) return `${place.misses} references to ${dir} lead nowhere: the build may make what they name`;
  if (place.hits === 0 && (needsProof || index.model.makers !== undefined)) {
    return `this repository has nothing like it in ${dir}: ${index.model.makers?.what ?? "the build"} or another site may serve it`;
  }
  return form.hits >= countMin || !needsProof
    ? null
    : "too few references that are written like this lead anywhere on this site";
}

// With fewer, each is told by itself.
const entriesMin = 5;

/** Entries of a navigation file that one cause explains, as one finding. */
export function mergeEntries(findings: readonly Finding[]): Finding[] {
  const causeOf = ({ check, path, why }: Finding): string | null =>
    check === brokenNavigation.id && why !== undefined ? `${path} ${why}` : null;
  const causes = Map.groupBy(findings, causeOf);
  return findings.flatMap((finding) => {
    const cause = causeOf(finding);
    const some = cause === null ? [] : (causes.get(cause) ?? []);
    if (some.length < entriesMin) return finding;
    const message = `${some.length} entries of this file name no page of the repository.`;
    return finding === some[0] ? { ...finding, message } : [];
  });
}
