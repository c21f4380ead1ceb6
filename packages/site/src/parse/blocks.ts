/** Text with inline content to scan. */
export interface TextBlock {
  /** Markup contains only HTML, no Markdown. */
  kind: "text" | "markup";
  start: number;
  end: number;
  /** Start and end of each line, if quote markers are between them. Null: the range itself is the text. */
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
  /** The range after the fence: the language and framework options. */
  info: { start: number; end: number };
  /** Start and end of each line, without the indentation of its containers. */
  lines: number[];
}

export interface Blocks {
  texts: TextBlock[];
  headings: HeadingBlock[];
  definitions: Definition[];
  /** Footnote labels as written, by normalized label with the caret. */
  footnotes: Map<string, string>;
  /** Offsets of opening fences without a language. */
  bareFences: number[];
  /** Fenced code blocks, in page order. */
  fences: FencedCode[];
  /** Ranges of fenced and indented code. */
  code: { start: number; end: number }[];
  /** Ranges of `import` and `export` in MDX. */
  modules: { start: number; end: number }[];
  /** Paths of included files; see `Dialect.includes`. */
  snippets: { start: number; end: number }[];
  /** The offset of an unclosed fence. */
  openFence: number | null;
}
