import type { Model, NavList, Redirect } from "./frameworks/framework.ts";
import type { SiteIndex } from "./links/site-index.ts";
import type { Page, SiteTree } from "./types.ts";

/** A docs site as a graph, at one state of its tree. */
export interface Site {
  framework: string;
  /** The folder that holds the pages; "" for the top. */
  root: string;
  /** The folder that the caller named. */
  docsDir: string;
  pages: readonly Page[];
  navigation: readonly NavList[];
  redirects: readonly Redirect[];
  tree: SiteTree;
  model: Model;
  index: SiteIndex;
}
