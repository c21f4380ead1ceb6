import type { Syntax } from "./read-page.ts";

/**
 * A page without anything that some parser may show as code: what is left is live for each of them. What a page only
 * shows is no example of markup that it uses.
 */
export function withoutCode(text: string, syntax: Syntax): string {
  if (/^(?:configuration|navigation|text)\b/.test(syntax)) return text;
  const lines = text.split("\n");
  const isCode = syntax === "rst" ? isIndented : syntax === "asciidoc" ? delimitedCode(listing) : markdownCode(syntax);
  return lines.map((line) => (isCode(line) ? "" : line)).join("\n");
}

/** Also without comments and without what may be a span of code, in whichever way its marks are paired. */
export function surelyLive(text: string, syntax: Syntax): string {
  if (/^(?:configuration|navigation|text)\b/.test(syntax)) return text;
  const shown = syntax === "asciidoc" ? text.replaceAll(styled, blank) : text;
  return withoutCode(shown, syntax)
    .replaceAll(
      /<!--[\s\S]*?(?:-->|$)|\{\/\*[\s\S]*?(?:\*\/\}|$)|\{%-?\s*comment\b[\s\S]*?(?:endcomment\s*-?%\}|$)/g,
      blank,
    )
    .replaceAll(/(?:^.*\S.*(?:\n|$))+/gm, (paragraph) => withoutSpans(paragraph, syntax));
}

/**
 * Whether the line that begins at a place stands where it stood: with the same lines above, up to words at the margin,
 * and inside the same HTML. Nothing else decides whether the line is code.
 */
export function standsAsBefore(old: string, text: string, syntax: Syntax): (start: number) => boolean {
  const ids = new Map<string, number>();
  const idOf = (above: number, line: string) => {
    const key = `${above}\n${line}`;
    const id = ids.get(key) ?? ids.size + 1;
    ids.set(key, id);
    return id;
  };
  function* places(page: string): Generator<[start: number, place: string]> {
    const isFenced = delimitedCode(syntax === "asciidoc" ? listing : fence);
    let [start, above, isBehindBlank, areWords] = [0, 0, true, false];
    /** Open elements. An end counts only where it is surely no code. */
    const open: { name: string; id: number }[] = [];
    for (const line of page.split("\n")) {
      const isCode = isFenced(line);
      for (const [, slash, name = "", given = "", end] of /^[\s>*+\d.):-]*<[a-z/!?]/i.test(line)
        ? line.matchAll(tags)
        : []) {
        const isClosed = end === ">" && /\/$|--$/.test(given);
        if (!slash && !isClosed) open.push({ name, id: idOf(open.at(-1)?.id ?? 0, `<${name}`) });
        else if (slash && !isCode && !isIndented(line) && open.at(-1)?.name === name) open.pop();
      }
      if (!isCode && open.at(-1)?.name === "!--" && line.includes("-->")) open.pop();
      const isBlank = line.trim() === "";
      // What is above a paragraph of words, or of headings, does not matter below it. Nor do its words.
      if (!isBlank) areWords = (areWords || isBehindBlank) && !isCode && words.test(line) && !/::\s*$/.test(line);
      if (areWords && (isBlank || isBehindBlank)) above = 0;
      above = idOf(above, line);
      yield [start, `${open.at(-1)?.id ?? 0} ${above}`];
      isBehindBlank = isBlank;
      start += line.length + 1;
    }
  }
  const before = new Set([...places(old)].map(([, place]) => place));
  const standing = new Set([...places(text)].filter(([, place]) => before.has(place)).map(([start]) => start));
  return (start) => standing.has(start);
}

/** Begins as no other block does. */
const words = /^(?:[\p{L}\p{Pi}#"'(]|\d+(?![\d.)])|`[^`]|\*\*\S)/u;
/** Elements that are open up to an end of their own. */
const tags = /<(\/?)((?!(?:br|hr|img|input|wbr|link|source|col)\b)[a-z][\w.-]*|!--)([^<>]*)(>?)/gi;

function withoutSpans(paragraph: string, syntax: Syntax): string {
  // Below such a line, AsciiDoc shows the rest of the paragraph as it is.
  const shown =
    syntax === "asciidoc" ? /^\[(?:source|listing|literal|verse|stem|latexmath|asciimath|,)[^\n]*\]$/m : /$^/;
  const at = shown.exec(paragraph)?.index ?? paragraph.length;
  const live = paragraph.slice(0, at);
  // In these, other marks than two are no code, or what they show is read.
  if (!syntax.startsWith("m")) return syntax === "rst" ? live.replaceAll(/``[^\n]*``/g, blank) : live;
  const isPaired = live.split("\n").every((line) => {
    const [first, ...runs] = line.match(/`+/g) ?? [];
    return runs.length % 2 === (first === undefined ? 0 : 1) && runs.every((run) => run === first);
  });
  if (isPaired && !live.includes("\\`")) return live.replaceAll(/(`+)[^`\n]*\1/g, blank);
  return live.replace(/`[\s\S]*`/, blank);
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, " ");
}

const fence = /^[\s>*+\d.):-]*(`{3,}|~{3,})/;
const listing = /^(-{4,}\s*$|\.{4,}\s*$|`{3,}|\/{4,}\s*$)/;
/** Other blocks of AsciiDoc show code if a line above says so. */
const styled =
  /^\[(?:source|listing|literal|verse|stem|latexmath|asciimath|,)[^\n]*\](?:\n[.[][^\n]*)*\n(-{2}|[=_*+]{4,})\n[\s\S]*?(?:\n\1(?=\n|$)|$(?![\s\S]))/gm;

/** Literal blocks, and directives that show their text. */
function isIndented(line: string): boolean {
  return /^[ \t]/.test(line);
}

function markdownCode(syntax: Syntax): (line: string) => boolean {
  const isFenced = delimitedCode(fence);
  const isMdx = syntax.startsWith("mdx");
  return (line) => isFenced(line) || (!isMdx && /^[ >*+\d.):-]*(?: {4}|\t)/.test(line));
}

/** Where the block of a mark ends, as different parsers see it. A line is code if it is for any of them. */
const ends: ReadonlyArray<(open: string, run: string, line: string) => boolean> = [
  (open, run, line) => run === open && line.trimEnd().endsWith(run),
  (open, run) => run[0] === open[0],
  (open, run, line) => run.startsWith(open) && line.trimEnd().endsWith(run),
];

function delimitedCode(mark: RegExp): (line: string) => boolean {
  // AsciiDoc has one parser.
  const readings = (mark === listing ? ends.slice(0, 1) : ends).map((isEnd) => ({ isEnd, open: "" }));
  return (line) => {
    const run = mark.exec(line)?.[1]?.trimEnd() ?? "";
    const wasOpen = readings.some(({ open }) => open !== "");
    for (const reading of readings) {
      if (reading.open === "") reading.open = run;
      else if (run !== "" && reading.isEnd(reading.open, run, line)) reading.open = "";
    }
    return wasOpen || run !== "" || (mark === listing && isIndented(line));
  };
}
