import type { Model, NavList, Redirect } from "./frameworks/framework.ts";
import type { SiteIndex } from "./links/site-index.ts";
import type { IgnoreEntry, Page, SiteTree } from "./types.ts";

/** A docs site as a graph, for one state of its tree. */
export interface Site {
  framework: string;
  /** The folder of the pages; "" for the repository's root. */
  root: string;
  /** The folder that the caller named. */
  docsDir: string;
  /** Findings that the project's settings silence, besides those that the tree's own file does. */
  ignore: readonly IgnoreEntry[];
  pages: readonly Page[];
  navigation: readonly NavList[];
  redirects: readonly Redirect[];
  tree: SiteTree;
  model: Model;
  index: SiteIndex;
}
