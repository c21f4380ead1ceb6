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

interface Definition {
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

/** Labels match case-insensitively, and runs of white space are equal. */
export function normalizeLabel(label: string): string {
  return label.replace(/\s+/g, " ").trim().toLowerCase().toUpperCase();
}

const label = /[ \t]*\[((?:[^[\]\\]|\\[^\n]){1,999})\]:[ \t]*(?:\r?\n[ \t]*)?/y;
const destination = /<((?:[^<>\\\n]|\\.)*)>|(\{[{%][^\n]{0,500}?[%}]\}\S*|(?!<)[^\s]+)/y;
const rest =
  /(?:[ \t]+|[ \t]*\r?\n[ \t]*)("(?:[^"\\]|\\[\s\S]){0,1000}"|'(?:[^'\\]|\\[\s\S]){0,1000}'|\((?:[^()\\]|\\[\s\S]){0,1000}\))[ \t]*\r?(?=\n|$)/y;
const lineEnd = /[ \t]*\r?(?:\n|$)/y;

function match(expression: RegExp, text: string, at: number): RegExpExecArray | null {
  expression.lastIndex = at;
  return expression.exec(text);
}

/**
 * Reads the link definitions at the start of a paragraph. Offsets are those of the paragraph's text; `after` is where
 * its prose starts.
 */
export function readDefinitions(text: string): { definitions: Definition[]; after: number } {
  const definitions: Definition[] = [];
  let at = 0;
  while (at < text.length) {
    const name = match(label, text, at);
    if (name === null || (name[1] as string).trim() === "" || (name[1] as string).startsWith("^")) break;
    const target = match(destination, text, label.lastIndex);
    if (target === null) break;
    const angled = target[1] !== undefined;
    const start = target.index + (angled ? 1 : 0);
    const end = destination.lastIndex - (angled ? 1 : 0);
    const titled = match(rest, text, destination.lastIndex);
    let after = titled === null ? -1 : rest.lastIndex;
    if (titled === null) {
      if (match(lineEnd, text, destination.lastIndex) === null) break;
      after = lineEnd.lastIndex;
    } else if (text.charCodeAt(after) === 10) after++;
    definitions.push({ label: normalizeLabel(name[1] as string), start, end });
    at = after;
  }
  return { definitions, after: at };
}
