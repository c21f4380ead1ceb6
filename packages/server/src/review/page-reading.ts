/** What of a page does more than show words: where it leads its readers, and what of it runs. */
export interface PageReading {
  /** Where a rendered page links to or loads from. */
  addresses: readonly Address[];
  /** Sites named in code samples, which lead nowhere by themselves. */
  shown: readonly { host: string; at: number }[];
  code: readonly Code[];
  /** Files whose text becomes part of the page, as written. */
  includes: readonly { target: string; at: number }[];
}

export interface Address {
  /** As a browser gets it. */
  url: string;
  hosts: readonly string[];
  /** Fetched without a click. */
  loads: boolean;
  /** Nothing on the page shows it: a definition that no link uses. */
  isUnused?: true;
  at: number;
}

/** Something on a page that is neither words, nor a literal, nor markup that is known to be harmless. */
export interface Code {
  /** Equal for code that differs in harmless texts only, such as the page that a call names. */
  shape: string;
  why: string;
  at: number;
}

export type Syntax = "markdown" | "mdx" | "markup" | "rst" | "asciidoc";

/** Null: no page. */
export function syntaxOf(path: string, isMdxSite = false): Syntax | null {
  if (/\.(?:md|markdown|mdown|mkdn?)$|(?:^|\/)llms[\w-]*\.txt$/i.test(path)) return isMdxSite ? "mdx" : "markdown";
  if (/\.mdx$/i.test(path)) return "mdx";
  if (/\.(?:html?|xhtml|svg|xml)$/i.test(path)) return "markup";
  if (/\.rst$/i.test(path)) return "rst";
  return /\.(?:adoc|asciidoc|asc)$/i.test(path) ? "asciidoc" : null;
}

/** Collects a reading. */
export interface Notes {
  address(url: string, at: number, more?: { loads?: boolean; isUnused?: true }): void;
  /** A value that may hold addresses, in one way or another: a style, a list of images, a component's property. */
  value(text: string, at: number): void;
  code(source: string, why: string, at: number): void;
  include(target: string, at: number): void;
  shown(text: string, at: number): void;
  reading(): PageReading;
}
