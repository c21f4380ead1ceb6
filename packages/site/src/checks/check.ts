import type { PageNode, Resolution, SiteIndex } from "../links/site-index.ts";
import type { Link } from "../parse/dialect.ts";
import type { Site } from "../site.ts";
import type { Severity } from "../types.ts";
import type { Report } from "./report.ts";

export interface CheckSettings {
  levels: ReadonlyMap<string, Severity | "off">;
  /** The path of the project's word list. */
  dictionary: string;
  /** Findings that the project ignores. */
  ignore: readonly IgnoreRule[];
  /** The names of all checks. */
  known: ReadonlySet<string>;
  /** Why the file is invalid. Then none of it is used. */
  problem: string | null;
  /** Where the word list and the style rules are read. */
  rulesFrom: Site;
}

export interface IgnoreRule {
  check: string;
  /** A page, or a pattern. */
  path: string;
  /** A part of the finding's message. Null: any message. */
  message: string | null;
  /** Its position in the list, from 1. */
  position: number;
  /** The server's project settings, instead of the repository's file. */
  isOfProject: boolean;
}

export interface ResolvedLink {
  link: Link;
  resolution: Resolution;
}

export interface PageContext {
  index: SiteIndex;
  page: PageNode;
  /** The page's internal links with their resolutions. */
  links: readonly ResolvedLink[];
}

/** A check of one page's link resolutions. */
export interface LinkCheck {
  id: string;
  severity: Severity;
  run(context: PageContext): Iterable<Report>;
}

/** A check of the whole site: navigation, routes, redirects. */
export interface SiteCheck {
  id: string;
  severity: Severity;
  run(index: SiteIndex): Iterable<Report>;
}

/** A check that runs only if the project's settings enable it. It may read pages again, or the tree's history. */
export interface OptionalCheck {
  id: string;
  severity: Severity;
  /** Whether it also runs on a site whose settings do not name it. Absent: never. */
  isOn?(site: Site): boolean;
  run(site: Site, context: { settings: CheckSettings; signal?: AbortSignal }): Iterable<Report> | AsyncIterable<Report>;
}
