// Tests for block starts, each anchored at an offset by a sticky regular expression. None backtracks over a line more
// than once.

function sticky(source: string): (text: string, at: number) => RegExpExecArray | null {
  const expression = new RegExp(source, "y");
  return (text, at) => {
    expression.lastIndex = at;
    return expression.exec(text);
  };
}

/** `## Title`: the marker's length, or 0. Python-Markdown requires no space after it. */
export function atxLevel(text: string, at: number, end: number, needsSpace: boolean): number {
  let i = at;
  while (i < end && text.charCodeAt(i) === 35) i++;
  const level = i - at;
  if (level > 6) return 0;
  const c = text.charCodeAt(i);
  return !needsSpace || i >= end || c === 32 || c === 9 ? level : 0;
}

export interface Fence {
  char: number;
  length: number;
  /** The offset of the info string. */
  info: number;
}

export function fenceAt(text: string, at: number, end: number): Fence | null {
  const char = text.charCodeAt(at);
  let i = at;
  while (i < end && text.charCodeAt(i) === char) i++;
  if (i - at < 3) return null;
  if (char === 96) {
    const tick = text.indexOf("`", i);
    if (tick !== -1 && tick < end) return null;
  }
  return { char, length: i - at, info: i };
}

export function closesFence(text: string, at: number, end: number, fence: Fence): boolean {
  let i = at;
  while (i < end && text.charCodeAt(i) === fence.char) i++;
  return i - at >= fence.length && isBlank(text, i, end);
}

/** A fence with a language inside of one as long, whose own language is not about Markdown: the outer one was not closed. */
export function isSwallowed(text: string, at: number, end: number, outer: Fence): boolean {
  const fence = fenceAt(text, at, end);
  if (fence === null || fence.length !== outer.length || !/^\w/.test(text.slice(fence.info, fence.info + 1)))
    return false;
  const line = text.slice(outer.info, outer.info + 40).split("\n", 1)[0] ?? "";
  return /^\w/.test(line) && !/^(?:md|markdown|te?xt|plain)/i.test(line);
}

export function isBlank(text: string, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    const c = text.charCodeAt(i);
    if (c !== 32 && c !== 9 && c !== 13) return false;
  }
  return true;
}

/** `===` or `---` alone: the level, or 0. */
export function setextLevel(text: string, at: number, end: number): number {
  const char = text.charCodeAt(at);
  if (char !== 61 && char !== 45) return 0;
  let i = at;
  while (i < end && text.charCodeAt(i) === char) i++;
  if (!isBlank(text, i, end)) return 0;
  return char === 61 ? 1 : 2;
}

export function isThematicBreak(text: string, at: number, end: number): boolean {
  const char = text.charCodeAt(at);
  if (char !== 42 && char !== 45 && char !== 95) return false;
  let count = 0;
  for (let i = at; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c === char) count++;
    else if (c !== 32 && c !== 9) return false;
  }
  return count >= 3;
}

export interface ListMarker {
  /** The marker's own length. */
  width: number;
  /** Only an ordered list that starts at 1 may interrupt a paragraph. */
  startsAtOne: boolean;
}

export function listMarker(text: string, at: number, end: number): ListMarker | null {
  const c = text.charCodeAt(at);
  let width = 0;
  let startsAtOne = true;
  if (c === 45 || c === 43 || c === 42) width = 1;
  else if (c >= 48 && c <= 57) {
    let i = at;
    while (i < end && i - at < 10 && text.charCodeAt(i) >= 48 && text.charCodeAt(i) <= 57) i++;
    const mark = text.charCodeAt(i);
    if (i - at > 9 || (mark !== 46 && mark !== 41) || i >= end) return null;
    width = i - at + 1;
    startsAtOne = Number(text.slice(at, i)) === 1;
  } else return null;
  const after = text.charCodeAt(at + width);
  if (at + width < end && after !== 32 && after !== 9) return null;
  return { width, startsAtOne };
}

const rawTag = sticky("<(?:script|pre|style|textarea)(?=[\\s>]|$)");
const rawTagAnyCase = sticky(
  "<(?:[sS][cC][rR][iI][pP][tT]|[pP][rR][eE]|[sS][tT][yY][lL][eE]|[tT][eE][xX][tT][aA][rR][eE][aA])(?=[\\s>]|$)",
);
const blockNames =
  "address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|track|ul";
const blockTag = new RegExp(`^</?(?:${blockNames})(?:[\\s>]|/>|$)`, "i");
const wholeTag = sticky(
  "(?:<[A-Za-z][\\w-]*(?:\\s+[A-Za-z_:][\\w.:-]*(?:\\s*=\\s*(?:[^\\s\"'=<>`]+|'[^'\\n]*'|\"[^\"\\n]*\"))?)*\\s*/?>|</[A-Za-z][\\w-]*\\s*>)[ \\t]*\\r?(?=\\n|$)",
);

/** The end condition of an HTML block that starts here: a string, or "" for a blank line. Null if none starts. */
export function htmlBlockEnd(text: string, at: number, end: number, inParagraph: boolean): string | null {
  const next = text.charCodeAt(at + 1);
  if (next === 33) {
    if (text.startsWith("<!--", at)) return "-->";
    if (text.startsWith("<![CDATA[", at)) return "]]>";
    return /[A-Za-z]/.test(text.charAt(at + 2)) ? ">" : null;
  }
  if (next === 63) return "?>";
  const raw = rawTag(text, at) ?? rawTagAnyCase(text, at);
  if (raw !== null) return "</raw>";
  // The longest block name with brackets and slash fits in twenty characters.
  if (blockTag.test(text.slice(at, Math.min(end, at + 20)))) return "";
  if (!inParagraph && wholeTag(text, at) !== null) return "";
  return null;
}

/** The end of an HTML block in Python-Markdown: its closing tag. -1 if the block enables Markdown inside. */
export function rawBlockEnd(text: string, at: number, end: number): number {
  const name = blockTag.test(text.slice(at, Math.min(end, at + 20)))
    ? /^<(\w+)/.exec(text.slice(at, at + 20))?.[1]
    : null;
  if (name === undefined || name === null) return -1;
  const close = text.indexOf(">", at);
  if (close === -1 || /\smarkdown(?=[\s=>]|$)/.test(text.slice(at, close))) return -1;
  const tags = new RegExp(`<(/?)${name}\\b[^>]*>`, "gi");
  tags.lastIndex = at;
  let depth = 0;
  for (let found = tags.exec(text); found !== null; found = tags.exec(text)) {
    if (found[0].endsWith("/>")) continue;
    depth += found[1] === "/" ? -1 : 1;
    if (depth === 0) return tags.lastIndex;
  }
  return -1;
}

const rawTagEnd = /<\/(?:script|pre|style|textarea)>/i;

export function endsHtmlBlock(text: string, from: number, end: number, mark: string): boolean {
  if (mark === "") return isBlank(text, from, end);
  const line = text.slice(from, end);
  return mark === "</raw>" ? rawTagEnd.test(line) : line.includes(mark);
}

/** Python-Markdown's `!!! note`, `??? note` and `=== "Tab"`, whose content is indented by four spaces. */
export const admonitionStart = sticky("(?:!!!|\\?\\?\\?\\+?)[ \\t]+\\S|===[!+]?[ \\t]+[\"']");

const includeLines = {
  vitepress: sticky("<<<[ \\t]*([^\\s#{[]+)"),
  mdbook: sticky("\\{\\{#(?:include|rustdoc_include|playground)[ \\t]+([^\\s:}]+)"),
  myst: sticky("(?:`{3,}|~{3,}|:{3,})\\{(?:include|literalinclude)\\}[ \\t]+(\\S+)"),
  // With `cwd`, the path is relative to the application.
  fumadocs: sticky("<include(?:[ \\t]+(?:lang|meta)=[^>\\n]*)?>[ \\t]*([^\\s<#]+)"),
  snippets: sticky("-+8<-+[ \\t]+[\"']([^\\s:\"']+)"),
} as const;

/**
 * The range of the path in a line that includes another file: `<<< @/file.ts#region{1,2} [title]` and similar forms.
 */
export function snippetAt(
  text: string,
  at: number,
  end: number,
  form: keyof typeof includeLines,
): { start: number; end: number } | null {
  const found = includeLines[form](text, at);
  const path = found?.[1];
  if (found === null || path === undefined || at + found[0].length > end) return null;
  return { start: at + found[0].length - path.length, end: at + found[0].length };
}

export const footnoteStart = sticky("\\[\\^[^\\]\\s]+\\]:[ \\t]*");

export const moduleStart = sticky("(?:import|export)(?=[\\s{*\"'])");
