import { type IgnoreEntry, openSite, type ParseCache, type Site } from "@emend/site";
import { type Overlay, siteTreeOf, type Tree } from "@emend/tree";

/** The site for the agent's tools: parsed on demand, and again after an edit. */
export interface SiteSession {
  /** With the edits so far. */
  head(signal: AbortSignal): Promise<Site>;
  /** Before any edit. */
  base(signal: AbortSignal): Promise<Site>;
  /** Call after files changed. */
  changed(): void;
}

/** Opens the site before and after the edits, each once for as long as it holds. */
export function createSiteSession(input: {
  base: Tree;
  overlay: Overlay;
  docsDir: string;
  ignore?: readonly IgnoreEntry[] | undefined;
  cache?: ParseCache;
}): SiteSession {
  const cache = input.cache ?? new Map<string, string>();
  const open = (tree: Tree, signal: AbortSignal) =>
    openSite(siteTreeOf(tree), { docsDir: input.docsDir, ignore: input.ignore, cache, signal });
  let head: Promise<Site> | null = null;
  let base: Promise<Site> | null = null;
  return {
    head(signal) {
      head ??= forgetFailure(open(input.overlay, signal), () => {
        head = null;
      });
      return head;
    },
    base(signal) {
      base ??= forgetFailure(open(input.base, signal), () => {
        base = null;
      });
      return base;
    },
    changed() {
      head = null;
    },
  };
}

function forgetFailure<T>(opened: Promise<T>, forget: () => void): Promise<T> {
  return opened.catch((error: unknown) => {
    forget();
    throw error;
  });
}
