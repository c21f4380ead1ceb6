import type { LinkCase } from "./cases.ts";

export interface PlacedLink extends LinkCase {
  /** Where the link stands. */
  path: string;
  /** Where it is no Markdown link: in a tag (`<a href>`, `<img src>`), or the path of a file that a line takes in. */
  kind?: "href" | "src" | "include";
  /** The text of the link, by which it is found in what a builder made. */
  mark: string;
}

/** The table of forms as one site of a framework: what a builder builds and what Emend reads are the same files. */
export interface OracleSite {
  name: string;
  framework: string;
  /** The folder of files that are served from the top. */
  publicDir: string;
  files: Readonly<Record<string, string>>;
  /** Pages by path, each with the text that tells it apart. */
  marks: ReadonlyMap<string, string>;
  links: readonly PlacedLink[];
  /** The page of all headings, and the headings in its order. */
  headingsPath: string;
  headings: readonly string[];
  /** Pages with one block each; the page "none" has none. */
  blocks: ReadonlyMap<string, string>;
}

/** A picture. The builder writes the real file; Emend only checks that the path exists. */
export const picture = "picture";

export const noBlock = "none";

/** A site for what only some frameworks have: versions, languages, included files, redirects, own addresses, tags. */
export interface FormSite {
  /** The framework, and the forms that are asked about. */
  name: string;
  /** The folder of the pages; left out, the top. */
  root?: string;
  /** Where files are served from the top, where it is not the folder of the pages. */
  publicDir?: string;
  config: Readonly<Record<string, string>>;
  /**
   * Pages and other files by path below the root. `[[x]]` is a link, `<<x>>` the `href` and `((x))` the picture of a tag,
   * `[=x=]` the `href` of a component, `{doc}[x]` a role of Sphinx, and `[+x+]` the path of a file that is taken in, which holds `in_` and its own name.
   */
  files: Readonly<Record<string, string>>;
}

export const part = "## From part\n\nin_part";
