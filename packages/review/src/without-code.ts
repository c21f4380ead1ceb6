import type { Syntax } from "./read-page.ts";

/**
 * A page without anything that some parser may show as code: what is left is live for each of them. What a page only
 * shows is no example of markup that it uses.
 */
export function withoutCode(text: string, syntax: Syntax): string {
  if (/^(?:configuration|navigation|svg|text)\b/.test(syntax)) return text;
  const lines = text.split("\n");
  const isCode = syntax === "rst" ? rstCode() : syntax === "asciidoc" ? delimitedCode(listing) : markdownCode(syntax);
  return lines.map((line) => (isCode(line) ? "" : line)).join("\n");
}

/** Also without comments and without what may be a span of code, in whichever way its marks are paired. */
export function surelyLive(text: string, syntax: Syntax): string {
  if (/^(?:configuration|navigation|svg|text)\b/.test(syntax)) return text;
  return withoutCode(text, syntax)
    .replaceAll(
      /<!--[\s\S]*?(?:-->|$)|\{\/\*[\s\S]*?(?:\*\/\}|$)|\{%-?\s*comment\b[\s\S]*?(?:endcomment\s*-?%\}|$)/g,
      blank,
    )
    .replaceAll(/(?:^.*\S.*(?:\n|$))+/gm, (paragraph) => withoutSpans(paragraph, syntax));
}

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
const listing = /^(-{4,}|\.{4,}|`{3,}|\/{4,})/;

function markdownCode(syntax: Syntax): (line: string) => boolean {
  const isFenced = delimitedCode(fence);
  const isMdx = syntax.startsWith("mdx");
  return (line) => isFenced(line) || (!isMdx && /^(?: {4}| {0,3}\t)/.test(line));
}

/** From a mark to the next one of the same character, or to the end. */
function delimitedCode(mark: RegExp): (line: string) => boolean {
  let open = "";
  return (line) => {
    const kind = mark.exec(line)?.[1]?.[0] ?? "";
    if (open === "") open = kind;
    else if (kind === open) {
      open = "";
      return true;
    }
    return open !== "" || (mark === listing && /^[ \t]/.test(line));
  };
}

/** What is indented below `::`, or below a directive that shows its text. */
function rstCode(): (line: string) => boolean {
  let isOpen = false;
  let width = 0;
  return (line) => {
    const indent = line.search(/\S/);
    if (indent !== -1 && (!isOpen || indent <= width)) {
      width = indent;
      isOpen =
        /^(?!\s*\.\. ).*::\s*$|^\s*\.\.(?:\s*$|\s+(?![[_|])(?!\S+::))/.test(line) ||
        /^\s*\.\. (?:code|code-block|sourcecode|parsed-literal|prompt|highlight|productionlist|math)::/.test(line);
      return false;
    }
    return isOpen;
  };
}
