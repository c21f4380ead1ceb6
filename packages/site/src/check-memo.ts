import type { Site } from "./site.ts";
import type { Finding } from "./types.ts";

/** A site's findings by page, so that the next check covers only the differences. */
export interface CheckMemo {
  byPage: ReadonlyMap<string, readonly Finding[]>;
  ofSite: readonly Finding[];
  /** Page → the number of its links, and of those that cannot be judged, by reason. Only pages with links. */
  tallies: ReadonlyMap<string, PageTally>;
  /** Page → pages with links to its anchors. */
  linkers: ReadonlyMap<string, readonly string[]>;
  /** Page → pages that include it, and so have its anchors too. */
  includers: ReadonlyMap<string, readonly string[]>;
}

export interface PageTally {
  links: number;
  reasons?: Readonly<Record<string, number>>;
}

export interface Inheritance {
  memo: CheckMemo;
  changed: ReadonlySet<string>;
  /** The changed pages whose anchors changed. */
  reanchored: ReadonlySet<string>;
  /** A page's front matter changed, which may decide whether the page must be listed. */
  isRefielded: boolean;
}

const memos = new WeakMap<Site, CheckMemo>();
const inheritances = new WeakMap<Site, Inheritance>();

export function memoOf(site: Site): CheckMemo | undefined {
  return memos.get(site);
}

export function remember(site: Site, memo: CheckMemo): void {
  memos.set(site, memo);
  inheritances.delete(site);
}

export function inheritanceOf(site: Site): Inheritance | undefined {
  return inheritances.get(site);
}

/** Records that a site equals an earlier one except for some files. The earlier one may have been checked. */
export function inheritChecks(site: Site, previous: Site, changed: ReadonlySet<string>): void {
  const memo = memos.get(previous);
  const older = inheritances.get(previous);
  const reanchored = new Set([...changed].filter((path) => anchorKey(previous, path) !== anchorKey(site, path)));
  const isRefielded = [...changed].some((path) => fieldKey(previous, path) !== fieldKey(site, path));
  if (memo !== undefined) inheritances.set(site, { memo, changed, reanchored, isRefielded });
  else if (older !== undefined) {
    inheritances.set(site, {
      memo: older.memo,
      changed: new Set([...older.changed, ...changed]),
      reanchored: new Set([...older.reanchored, ...reanchored]),
      isRefielded: older.isRefielded || isRefielded,
    });
  }
}

function fieldKey(site: Site, path: string): string {
  return JSON.stringify(site.index.nodes.get(path)?.brief.fields ?? null);
}

/** Everything that determines the anchors of a page and of the pages that include it. */
function anchorKey(site: Site, path: string): string {
  const brief = site.index.nodes.get(path)?.brief;
  if (brief === undefined) return "";
  const includes = brief.others.filter(({ kind }) => kind === "include").map(({ target }) => target);
  return [...brief.ids, "\0", ...includes].join("\n");
}
