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

const fence = /^[\s>*+\d.):-]*(`{3,}|~{3,})/;
const listing = /^(-{4,}|\.{4,}|`{3,})/;

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
        /^(?!\s*\.\. ).*::\s*$/.test(line) ||
        /^\s*\.\. (?:code|code-block|sourcecode|parsed-literal|prompt|highlight|productionlist|math)::/.test(line);
      return false;
    }
    return isOpen;
  };
}
