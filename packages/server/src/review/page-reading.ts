/**
 * What of a page of documentation can lead a reader elsewhere. A page is read twice, as Markdown and as MDX, because
 * nobody knows how it will be rendered: by its site in one way, by the forge's preview in the other.
 */
export interface PageReading {
  /** Code that is shown and does nothing: blocks between fences, and spans between backticks. */
  code: readonly CodeRange[];
  /** Where its links, images and definitions lead, as Markdown reads them. */
  links: readonly string[];
  /** Every string in the page's own code, as it is once its escapes are read. */
  strings: readonly string[];
  /** Whether the page's code was read at all. */
  isScriptRead: boolean;
  /** Code by which the page puts an address together that cannot be told from here, as it is written. */
  unreadable: readonly string[];
}

export interface CodeRange {
  start: number;
  end: number;
  /** Code in both readings. */
  isSure: boolean;
}

export type Syntax = "markdown" | "mdx";

/** Null: no page, and nothing in it is known to be mere code. */
export function syntaxOf(path: string): Syntax | null {
  if (/\.mdx$/i.test(path)) return "mdx";
  return /\.(?:md|markdown)$/i.test(path) ? "markdown" : null;
}

const code =
  /=\s*\{|\{\s*\.\.\.|^\s*(?:export|import)\b|<script\b|\sv-|\s[:.][[a-z]|\bcreateElement\b|[\s"'/]on[a-z]{3,}\s*=|javascript\s*:/im;
/** A site's name that goes on behind a bracket or a quotation mark: only the parser knows whether it ends there. */
const oddName = /(?:https?:|\/\/)[\w.:@-]{0,1000}[^\w\s<>/?#\\.:@-][^\s<>/?#\\]{0,500}\.[\p{L}\p{N}]/iu;

/** Whether a page may have code that leads readers elsewhere, by a quick look. */
export function mayLead(text: string): boolean {
  return code.test(text) || oddName.test(text);
}
