import type { Place } from "../text/bytes.ts";

export type SlugRule = "github" | "astro" | "python" | "vitepress" | "mintlify" | "gitbook" | "docsify";

/**
 * The syntaxes for an explicit heading id at the end of a heading: `{#id}`; an attribute list such as `{: #id .class }`
 * or `{ id="x" }`; `{/* #id *\/}`; `[#id]`; `:id=id`.
 */
export type HeadingIdForm = "braces" | "attributes" | "comment" | "brackets" | "colon";

/** How a page is parsed. Facts depend on it, so it is part of their cache key. */
export interface Dialect {
  syntax: "md" | "mdx";
  slug: SlugRule;
  /** The supported syntaxes for explicit heading ids. */
  headingIds: readonly HeadingIdForm[];
  /** The heading levels that have ids. */
  idLevels: readonly [first: number, last: number];
  /** Python-Markdown's `!!! note` and `=== "Tab"`, whose content is indented by four spaces. */
  admonitions: boolean;
  /** `:::note` opens a container. */
  colons: boolean;
  /** `{% tag url="…" %}` and `{{< shortcode >}}` are markup, not prose. */
  templates: boolean;
  /** An HTML block ends after its closing tag, not at the next blank line. */
  kramdown?: true;
  /** `link: /page` anywhere in front matter is a link. */
  frontMatterLinks: boolean;
  /**
   * How a line includes another file, also in code: `<<< file`, `{{#include file}}`, ```` ```{include} file ````,
   * `--8<-- "file"`, `<include>file</include>`.
   */
  includes?: "vitepress" | "mdbook" | "myst" | "snippets" | "fumadocs";
}

export const plainDialect: Dialect = {
  syntax: "md",
  slug: "github",
  headingIds: ["braces", "comment"],
  idLevels: [1, 6],
  admonitions: false,
  colons: false,
  templates: false,
  frontMatterLinks: false,
};

// Raise it when records for the same bytes change: cached records of older versions are then ignored.
const factsVersion = 16;

export function dialectKey(dialect: Dialect): string {
  const { admonitions, colons, templates, frontMatterLinks, kramdown = false } = dialect;
  const flags = [admonitions, colons, templates, frontMatterLinks, kramdown];
  return `${factsVersion}${dialect.syntax}-${dialect.slug}-${flags.map(Number).join("")}-${dialect.includes ?? ""}-${dialect.headingIds.join("-")}-${dialect.idLevels.join("")}`;
}

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
  /** The link has no text, so nobody sees it. */
  noText?: true;
  /** A definition that no text refers to: no builder follows it. */
  isUnused?: true;
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
  /** Links that stay plain text: nothing closes the `(`, or nothing defines the label. */
  textLinks?: (Place & { label: string | null })[];
  /** Why the page was not parsed. */
  unread?: "too large" | "binary";
}
