import type { Site } from "./site.ts";
import type { Finding } from "./types.ts";

/** What checking a site found, page by page, so that the next state is checked only where it differs. */
export interface CheckMemo {
  byPage: ReadonlyMap<string, readonly Finding[]>;
  ofSite: readonly Finding[];
  /** Page → pages whose findings depend on its anchors. */
  dependents: ReadonlyMap<string, ReadonlySet<string>>;
}

interface Inheritance {
  memo: CheckMemo;
  changed: ReadonlySet<string>;
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

/** Notes that a site equals an earlier one, which may have been checked, but for some files. */
export function inheritChecks(site: Site, previous: Site, changed: ReadonlySet<string>): void {
  const memo = memos.get(previous);
  const older = inheritances.get(previous);
  if (memo !== undefined) inheritances.set(site, { memo, changed });
  else if (older !== undefined)
    inheritances.set(site, { memo: older.memo, changed: new Set([...older.changed, ...changed]) });
}
