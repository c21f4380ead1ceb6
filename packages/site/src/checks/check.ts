import type { CheckSettings } from "../check-settings.ts";
import type { Resolution } from "../links/resolve.ts";
import type { PageNode, SiteIndex } from "../links/site-index.ts";
import type { Link, PageFacts } from "../parse/facts.ts";
import type { Site } from "../site.ts";
import type { Finding, Fix, Severity } from "../types.ts";

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

export interface Report {
  path: string;
  line: number;
  column: number;
  message: string;
  fix?: Fix;
  severity?: Severity;
  certainty?: Finding["certainty"];
  why?: string;
}

/** A rule over what one page says, wherever it stands: its findings follow from the page's bytes. */
export interface OwnCheck {
  id: string;
  severity: Severity;
  run(facts: PageFacts): Iterable<Omit<Report, "path">>;
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

export function toFinding(check: { id: string; severity: Severity }, report: Report): Finding {
  const { path, line, column, message, fix } = report;
  const finding: Finding = {
    check: check.id,
    severity: report.severity ?? check.severity,
    path,
    line,
    column,
    message,
  };
  if (report.certainty !== undefined) finding.certainty = report.certainty;
  if (report.why !== undefined) finding.why = report.why;
  if (fix !== undefined && report.certainty === undefined) finding.fix = fix;
  return finding;
}

/** Names a page in a message. */
export function quoted(text: string): string {
  return `\`${text.length > 120 ? `${text.slice(0, 117)}…` : text}\``;
}
