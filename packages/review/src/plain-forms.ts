import { decodeHTML } from "entities";
import {
  actingElements,
  blockElements,
  elements,
  expressionForms,
  fenceFlags,
  languages,
  rawElements,
} from "./content-table.ts";

export interface Tag {
  name: string;
  given: ReadonlyArray<{ name: string; value: string }>;
  isEnd: boolean;
  isClosed: boolean;
  end: number;
}

/** A tag that HTML, JSX and Vue read alike; null for anything unusual. */
export function readPlainTag(text: string, at: number, braceEnd: ((at: number) => number) | null): Tag | null {
  const head = /<(\/?)([A-Za-z][\w.-]*)/y;
  head.lastIndex = at;
  const match = head.exec(text);
  if (!match) return null;
  const given: { name: string; value: string }[] = [];
  let cursor = at + match[0].length;
  const attribute = /[ \t\n]+([A-Za-z_:@#][\w:@.#-]*)(?:=(?:"([^"]*)"|'([^']*)'|(?=(\{))|([\w#./:%-]+(?=[\s>]))))?/y;
  for (;;) {
    attribute.lastIndex = cursor;
    const found = attribute.exec(text);
    if (!found) break;
    cursor += found[0].length;
    const [, name = "", double, single, brace, bare] = found;
    if (brace && braceEnd === null) return null;
    const stop = brace && braceEnd ? braceEnd(cursor) : cursor;
    given.push({ name, value: brace ? text.slice(cursor, stop) : (double ?? single ?? bare ?? "") });
    cursor = stop;
  }
  const tail = /[ \t\n]*(\/?)>/y;
  tail.lastIndex = cursor;
  const last = tail.exec(text);
  if (!last || (match[1] === "/" && given.length > 0)) return null;
  // A blank line ends HTML for some parsers.
  if (/\n[ \t]*\n/.test(text.slice(at, cursor))) return null;
  return {
    name: match[2] ?? "",
    given,
    isEnd: match[1] === "/",
    isClosed: last[1] === "/",
    end: cursor + last[0].length,
  };
}

/** `<name>`, where a title shows what is written: an element that HTML does not know, or that only marks words. */
export function withoutNames(text: string): string {
  const isActive = (name: string) => [rawElements, actingElements, blockElements].some((known) => known.test(name));
  return text.replaceAll(/<\/?([a-z][\w-]*)>/gi, (tag, name: string) => (isActive(name.toLowerCase()) ? tag : name));
}

/** Where the braces that open at a place are balanced: the text's end if there are too few. The text is read once. */
export function braceEnds(text: string): (at: number) => number {
  let ends: Map<number, number> | undefined;
  return (at) => {
    ends ??= matchingBraces(text);
    return ends.get(at) ?? text.length;
  };
}

function matchingBraces(text: string): Map<number, number> {
  const ends = new Map<number, number>();
  const open: number[] = [];
  for (const { 0: brace, index } of text.matchAll(/[{}]/g)) {
    const start = brace === "{" ? void open.push(index) : open.pop();
    if (start !== undefined) ends.set(start, index + 1);
  }
  return ends;
}

/** Strings, numbers, lists and objects of these. */
export function isLiteralExpression(value: string): boolean {
  if (expressionForms.some((form) => form.test(value))) return true;
  const bare = value
    // From left to right: a quote inside a tag's text is text, and a tag inside quotes makes them no literal.
    .replaceAll(/<([a-z]+)>[^<>{}\\]*<\/\1>|"[^"<>{}\\\n]*"|'[^'<>{}\\\n]*'|["'`][\s\S]*/g, (whole, name) =>
      name === undefined ? (/^(["'])[^<]*\1$/.test(whole) ? "0" : whole) : elements.has(name) ? "0" : whole,
    )
    .replaceAll(/(?<=[{,\s])(?!on[A-Z]|__|\w*html)[A-Za-z]\w*(?=\s*:)/gi, "");
  return /^\{\s*[[{](?:[\s{}[\],:\d.-]|true|false|null)*[\]}]\s*\}$/.test(bare);
}

/** In JSX, braces and backticks inside quotes are text; HTML of CommonMark is read before spans of code. */
export function isPlainValue(value: string, mdx: boolean, nested: boolean): boolean {
  if (!(mdx ? /^(?:(?!\{[{%])[^<>\\])*$/ : nested ? /^[^<>{}\\]*$/ : /^[^<>{}\\`]*$/).test(value)) return false;
  // Browsers drop a tab in an address.
  if (/&#(?!x?[\da-f]+;)|\t/i.test(value)) return false;
  return [...value.matchAll(/&#?\w+;/g)].every(([one]) => isPlainReference(one, "<>{}\\:/"));
}

/** A reference to characters that can be seen and are none of these. */
export function isPlainReference(reference: string, active: string): boolean {
  const read = decodeHTML(reference);
  return [...read].every(
    (one) => /[\p{L}\p{N}\p{P}\p{S}]|[ \u00a0\u2002\u2003\u2009]/u.test(one) && !active.includes(one),
  );
}

/** Whether a fence's language and flags only show its code. */
export function isPlainInfo(info: string, code: string, isLabelled: boolean): boolean {
  const [, language = "", meta = ""] = /^[ \t]*\w+=/.test(info)
    ? ["", "", info]
    : (/^[ \t]*([\w+#.-]*)(?:,(?=\w)|:(?=[a-z-])|(?=[\s{[]|$))(.*)$/i.exec(info) ?? ["", "?"]);
  if (language !== "" && !languages.has(language.toLowerCase())) return false;
  // Its compiler reads the files that are named.
  if (/\btwoslash\b/.test(meta) && namesFiles.test(code)) return false;
  // Drawn, not shown.
  if (/(?:^|[\s{.])(?:mermaid|math|katex)\b/.test(info) && drawnActive.test(code)) return false;
  const flags =
    meta.trim().match(/\w+=(?:"[^"]*"|'[^']*'|\{[^}]*\})|\{[^}]*\}|\[[^\]]*\]|\/[^/]+\/|"[^"]*"|'[^']*'|[^\s,]+/g) ??
    [];
  // A title begins with a capital, and goes on with any words.
  const isTitle = isLabelled || /^[A-Z]/.test(flags[0] ?? "");
  return flags.every(
    (flag, index) =>
      (fenceFlags.test(flag) || (isTitle && /^[\w'’.:&()-]+$/.test(flag))) &&
      ((isLabelled && index > 0) || !runningFlag.test(flag)),
  );
}
const namesFiles =
  /\b(?:from|import|require|module|typeof)\b[\s(]*["'`]\s*(?:\.{0,2}\/|~|(?!node:)\w+:)|\/\/\/\s*<|@(?:jsx|import)|\/\/\s*@(?!errors|noErrors|log|filename: \w)/;
const drawnActive =
  /<(?!br ?\/?>|[-|=.o*\s\d])|%%\s*\{|(?:^|\n)\s*links?\s|\bclick\b|\bhref\b|\burl\b|\bimg\s*:|\\(?:href|url|html|require|include|input|def|let|newcommand|class|style|unicode|mmlToken)|script\s*:|\/\//i;
/** A path or a label is no flag, but these words start plugins. */
const runningFlag = /^(?:live|preview|playground|run\w*|exec\w*|eval\w*|repl|sandbox|interactive|reference|embed)\b/i;
