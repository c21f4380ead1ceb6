import type { PageNode, Resolution, SiteIndex } from "../links/site-index.ts";
import type { Link } from "../parse/facts.ts";
import type { Site } from "../site.ts";
import type { Severity } from "../types.ts";
import type { Report } from "./report.ts";

export interface CheckSettings {
  levels: ReadonlyMap<string, Severity | "off">;
  /** The path of the project's own words. */
  dictionary: string;
  /** Findings that the project does not want to hear of. */
  ignore: readonly IgnoreRule[];
  /** The names of all checks. */
  known: ReadonlySet<string>;
  /** What is wrong with the file; none of it is used then. */
  problem: string | null;
}

export interface IgnoreRule {
  check: string;
  path: RegExp;
  /** A part of the finding's message; null: any. */
  message: string | null;
  /** Its place in the list, from 1. */
  position: number;
}

export interface ResolvedLink {
  link: Link;
  resolution: Resolution;
}

export interface PageContext {
  index: SiteIndex;
  page: PageNode;
  /** The page's links that are not external, each with what it leads to. */
  links: readonly ResolvedLink[];
}

/** A rule over what the links of one page lead to. */
export interface LinkCheck {
  id: string;
  severity: Severity;
  run(context: PageContext): Iterable<Report>;
}

/** A rule over the site as a whole: navigation, routes, redirects. */
export interface SiteCheck {
  id: string;
  severity: Severity;
  run(index: SiteIndex): Iterable<Report>;
}

/** A rule that runs only where a project's settings ask for it. It may read the pages again, or the history of the tree. */
export interface OptionalCheck {
  id: string;
  severity: Severity;
  run(site: Site, context: { settings: CheckSettings; signal?: AbortSignal }): Iterable<Report> | AsyncIterable<Report>;
}
