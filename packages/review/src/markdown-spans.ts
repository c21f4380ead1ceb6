export function lineAt(text: string, at: number): string {
  const end = text.indexOf("\n", at);
  return text.slice(at, end === -1 ? text.length : end);
}

/** Where the line of this place begins; nothing that begins a line is longer than this. */
export function startOf(text: string, at: number): number {
  const from = Math.max(0, at - 1_000);
  return from + text.slice(from, at).lastIndexOf("\n") + 1;
}

export function wordAt(text: string, at: number): string {
  const from = Math.max(0, at - 100);
  const before = /\S*$/.exec(text.slice(from, at))?.[0] ?? "";
  return before + (/^\S*/.exec(text.slice(at, at + 200))?.[0] ?? "");
}

/** How often each `[name]` occurs besides its definitions. */
export function referencesIn(text: string): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  const count = (name: string, by: number) => uses.set(name.toLowerCase(), (uses.get(name.toLowerCase()) ?? 0) + by);
  for (const [, name = ""] of text.matchAll(/\[([^[\]\n]+)\]/g)) count(name, 1);
  for (const [, name = ""] of text.matchAll(/^[ \t>*+-]*\[([^[\]\n]+)\]:/gm)) count(name, -1);
  return uses;
}

/** Whether every parser finds the same code spans here: each is closed in its line and not escaped. */
export function hasPlainSpans(chunk: string, html: "commonmark" | "spans" | "raw"): boolean {
  if (!chunk.includes("`")) return true;
  // Mathematics is passed on as it is, with its marks.
  if (/\$\$|\\[([]/.test(chunk)) return false;
  const isTable = html === "raw" || /^[ \t>]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t:|-]*)?$/m.test(chunk);
  for (let at = chunk.indexOf("`"); at !== -1; at = chunk.indexOf("`", at)) {
    const [whole, marks, code = ""] = spanAt(chunk, at) ?? [];
    // Tables split cells inside code, and some parsers need a letter behind the first mark.
    if (
      !whole ||
      (isTable && /(?<!\\)\||\\\\\|/.test(code)) ||
      (html !== "commonmark" && marks === "`" && /^\s/.test(code) && /\s/.test(chunk[at - 1] ?? " "))
    )
      return false;
    if (chunk[at - 1] === "\\") return false;
    at += whole.length;
  }
  // Between two of them may be mathematics, with its own backticks.
  if ((withoutSpans(chunk).match(/\$/g)?.length ?? 0) > 1) return false;
  return true;
}

/** A span of code in its line: a list of definitions, a heading or a target can take any line out of a sentence. */
export function spanAt(text: string, at: number): RegExpExecArray | null {
  const span = /(`+)(?!`)([^\n]*?[^`\n])\1(?!`)/y;
  span.lastIndex = at;
  return span.exec(text);
}

/** The end of `{{…}}`, `{%…%}` (to its end tag if it hides text) or `{…}`; -1 for a single brace. */
export function templateEnd(text: string, at: number, end: number): number {
  const kind = text.slice(at, at + 2);
  const hidden = kind === "{%" ? /^\{%-?\s*(raw|comment|capture)\b/.exec(text.slice(at, at + 40))?.[1] : undefined;
  if (hidden) {
    const close = text.slice(at).search(new RegExp(`\\{%-?\\s*end${hidden}\\s*-?%\\}`));
    return close === -1 ? text.length : text.indexOf("%}", at + close) + 2;
  }
  const mark = kind === "{{" ? "}}" : kind === "{%" ? "%}" : "}";
  if (mark === "}") {
    const line = kind === "{:" ? text.slice(at, end) : lineAt(text.slice(at, Math.min(end, at + 500)), 0);
    return line.includes(mark) ? at + line.indexOf(mark) + 1 : line.length === 500 ? end : -1;
  }
  const close = text.indexOf(mark, at + 2);
  return close === -1 ? text.length : close + mark.length;
}

export function closingTag(text: string, at: number, name: string): number {
  const close = new RegExp(`</${name}\\s*>`, "gi");
  close.lastIndex = at;
  const match = close.exec(text);
  return match ? match.index + match[0].length : text.length;
}

export function withoutSpans(text: string): string {
  return text.replaceAll(/(`+)(?!`)[^\n]*?[^`\n]\1(?!`)/g, "");
}

export const fenceStart = /^((?:[ \t]*(?:>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t])))*[ \t]*)(`{3,}|~{3,})([^\n]*)$/;

/** A line of backticks with more of them is a span of code. */
export function isFence(line: string): boolean {
  const [, , marker = "", info = ""] = fenceStart.exec(line) ?? [];
  return marker !== "" && !(marker[0] === "`" && info.includes("`"));
}
