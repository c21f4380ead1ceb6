import type { LinkCase } from "./cases.ts";

export interface PlacedLink extends LinkCase {
  /** The page that contains the link. */
  path: string;
  /** For links other than Markdown links: an attribute (`<a href>`, `<img src>`), or the path of an included file. */
  kind?: "href" | "src" | "include";
  /** The text of the link, by which it is found in the builder's output. */
  mark: string;
}

/** The table of forms as one site of a framework. The builder and Emend read the same files. */
export interface OracleSite {
  name: string;
  framework: string;
  /** The folder whose files are served from the root. */
  publicDir: string;
  files: Readonly<Record<string, string>>;
  /** Pages by path, each with a text that identifies it in the output. */
  marks: ReadonlyMap<string, string>;
  links: readonly PlacedLink[];
  /** The page with all headings, and the headings in page order. */
  headingsPath: string;
  headings: readonly string[];
  /** Pages with one block each. The page "none" has no block. */
  blocks: ReadonlyMap<string, string>;
}

/** A picture. The builder writes the real file; Emend only checks that the path exists. */
export const picture = "picture";

export const noBlock = "none";

/** A site for features of some frameworks only: versions, languages, includes, redirects, custom URLs, tags. */
export interface FormSite {
  /** The framework, and the variant of the site. */
  name: string;
  /** The folder of the pages. Default: the root. */
  root?: string;
  /** The folder whose files are served from the root, if it is not the folder of the pages. */
  publicDir?: string;
  config: Readonly<Record<string, string>>;
  /**
   * Pages and other files by path below the root. `[[x]]` is a link, `<<x>>` the `href` and `((x))` the `src` of a tag,
   * `[=x=]` the `href` of a component, `{doc}[x]` a Sphinx role, and `[+x+]` the path of an included file, which
   * contains `in_` and its own name.
   */
  files: Readonly<Record<string, string>>;
}

export const part = "## From part\n\nin_part";
