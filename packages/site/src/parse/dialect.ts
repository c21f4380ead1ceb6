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
const factsVersion = 13;

export function dialectKey(dialect: Dialect): string {
  const flags = [dialect.admonitions, dialect.colons, dialect.templates, dialect.frontMatterLinks];
  return `${factsVersion}${dialect.syntax}-${dialect.slug}-${flags.map(Number).join("")}-${dialect.includes ?? ""}-${dialect.headingIds.join("-")}-${dialect.idLevels.join("")}`;
}
