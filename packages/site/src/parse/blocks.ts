/** Text whose inline content is to be scanned. */
export interface TextBlock {
  /** Markup holds only HTML: no Markdown inside. */
  kind: "text" | "markup";
  start: number;
  end: number;
  /** Start and end of each line, where a quote's marker stands between them; otherwise the range itself is the text. */
  lines: number[] | null;
}

export interface HeadingBlock extends TextBlock {
  level: number;
}

export interface Definition {
  label: string;
  start: number;
  end: number;
}

interface FencedCode {
  /** The range after the fence: the language, and what else a framework reads there. */
  info: { start: number; end: number };
  /** Start and end of each line, without the indentation of the containers around it. */
  lines: number[];
}

export interface Blocks {
  texts: TextBlock[];
  headings: HeadingBlock[];
  definitions: Definition[];
  /** Footnotes as written, by their labels with the caret. */
  footnotes: Map<string, string>;
  /** Offsets of opening fences without a language. */
  bareFences: number[];
  /** Fenced code, in the page's order. */
  fences: FencedCode[];
  /** Ranges of code, fenced and indented. */
  code: { start: number; end: number }[];
  /** Ranges of `import` and `export` in MDX. */
  modules: { start: number; end: number }[];
  /** Paths of files that lines take in; see `Dialect.includes`. */
  snippets: { start: number; end: number }[];
  /** The offset of a fence that nothing closes. */
  openFence: number | null;
}
