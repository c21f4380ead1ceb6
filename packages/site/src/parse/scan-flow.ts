import { findWithin } from "../text/bytes.ts";
import type { Dialect } from "./dialect.ts";
import type { InlineSink } from "./scan-inline.ts";
import { failuresMax, scanTag } from "./scan-tag.ts";
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

const rawElements = new Set(["script", "style", "pre", "textarea"]);

/** Scans an HTML block: only tags count. Markdown, comments and scripts are ignored. */
export function scanMarkup(text: string, from: number, end: number, dialect: Dialect, sink: InlineSink): void {
  let proseStart = from;
  const cut = (start: number, after: number): void => {
    if (sink.prose !== undefined && start > proseStart) sink.prose(proseStart, start);
    proseStart = after;
  };
  let failures = 0;
  let at = findWithin(text, "<", from, end);
  while (at !== -1) {
    let after = at + 1;
    if (text.startsWith("<!--", at)) {
      const close = findWithin(text, "-->", at + 4, end);
      after = close === -1 ? end : close + 3;
      sink.template(at, after);
      cut(at, after);
    } else {
      const tag = failures > failuresMax ? null : scanTag(text, at, end, dialect.syntax === "mdx");
      if (tag === null) failures++;
      else {
        after = tag.end;
        if (!tag.closing && rawElements.has(tag.name.toLowerCase()) && tag.name !== "pre") {
          const close = text.slice(after, end).search(new RegExp(`</${tag.name}`, "i"));
          after = close === -1 ? end : after + close;
        }
        cut(at, after);
        sink.tag(tag);
      }
    }
    at = findWithin(text, "<", after, end);
  }
  cut(end, end);
}
