import { findWithin } from "../text/bytes.ts";
import { scanTag } from "./scan-tag.ts";
import { skipBraces } from "./skip-code.ts";

function afterComment(text: string, at: number): number {
  const close = text.indexOf("-->", at + 4);
  return close === -1 ? -1 : close + 3;
}

/**
 * Skips tags, expressions and comments that are alone on their lines in MDX. Returns the offset after them, or -1 if
 * text follows on the line: then it is a paragraph.
 */
export function skipFlow(text: string, start: number): number {
  let at = start;
  let after = -1;
  while (at < text.length) {
    const c = text.charCodeAt(at);
    if (c === 32 || c === 9 || c === 13) {
      at++;
      continue;
    }
    if (c === 10) return after;
    let end = -1;
    if (c === 123) end = skipBraces(text, at, text.length);
    else if (text.startsWith("<!--", at)) end = afterComment(text, at);
    else if (c === 60) end = scanTag(text, at, text.length, true)?.end ?? -1;
    if (end === -1) return -1;
    at = end;
    after = end;
  }
  return after;
}

// A fence ends them too: statements may be inside a fence that hides MDX from other tools.
const blankLine = /\r?\n(?:[ \t]*(?=\r?\n|$)|(?=```))/g;

/** The end of the `import` and `export` statements that start here: a blank line outside all brackets. */
export function skipModule(text: string, start: number): number {
  blankLine.lastIndex = start;
  const blank = blankLine.exec(text);
  const end = blank === null ? text.length : blank.index;
  const brace = findWithin(text, "{", start, end);
  if (brace === -1) return end;
  const after = skipBraces(text, brace, text.length);
  if (after === -1 || after <= end) return end;
  blankLine.lastIndex = after;
  return blankLine.exec(text)?.index ?? text.length;
}
