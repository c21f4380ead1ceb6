import type { Place } from "../text/line-index.ts";

/** How a target was written; it decides how it resolves and how it is rewritten. */
export type LinkKind = "link" | "definition" | "image" | "href" | "src" | "include";

export interface Link extends Place {
  kind: LinkKind;
  /** The target as a browser would see it: escapes and entities resolved, percent-encoding kept. */
  target: string;
  /** The byte range of the target in the file, without quotes or angle brackets. */
  start: number;
  end: number;
  /** An image without alternative text. */
  noAlt?: true;
  /** The link's text is a bare "here". */
  here?: true;
}

export interface Heading extends Place {
  level: number;
  text: string;
  id: string;
  /** The id is written in the page, not derived from the text. */
  explicit?: true;
  /** The byte range of the heading's content, without markers and explicit id. */
  start: number;
  end: number;
}

export type Scalar = string | number | boolean | null;

export interface FrontMatter {
  format: "yaml" | "toml";
  /** The byte range between the fences. */
  start: number;
  end: number;
  /** The first byte after the closing fence's line. */
  bodyStart: number;
  /** Top-level scalars, and lists of them. */
  fields: Record<string, Scalar | Scalar[]>;
  problem?: Place & { message: string };
}

/** What a page says, by its bytes alone: no path, no site. So it can be kept by content hash. */
export interface PageFacts {
  frontMatter: FrontMatter | null;
  headings: Heading[];
  links: Link[];
  /** Ids that HTML, JSX or an attribute list gives. */
  ids: string[];
  /** Opening fences without a language. */
  bareFences: Place[];
  /** Where a code fence opens that nothing closes. */
  openFence?: Place;
  /** Why the page was not read, where it was not. */
  unread?: "too large" | "binary";
}
