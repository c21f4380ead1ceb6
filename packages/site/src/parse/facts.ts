import type { Place } from "../text/line-index.ts";

/** The syntax of a target. It decides how the target is resolved and rewritten. */
export type LinkKind = "link" | "definition" | "image" | "href" | "src" | "include";

export interface Link extends Place {
  kind: LinkKind;
  /** The target as a browser sees it: escapes and entities decoded, percent-encoding kept. */
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
  /** The id is explicit, not derived from the text. */
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
  /** Top-level scalars and lists of scalars. */
  fields: Record<string, Scalar | Scalar[]>;
  problem?: Place & { message: string };
}

/** The parsed content of a page. It depends only on the page's bytes, so it can be cached by content hash. */
export interface PageFacts {
  frontMatter: FrontMatter | null;
  headings: Heading[];
  links: Link[];
  /** Ids from HTML, JSX or attribute lists. */
  ids: string[];
  /** Opening fences without a language. */
  bareFences: Place[];
  /** The position of an unclosed code fence. */
  openFence?: Place;
  /** Why the page was not parsed. */
  unread?: "too large" | "binary";
}
