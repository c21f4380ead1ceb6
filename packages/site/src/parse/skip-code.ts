import { findWithin } from "../text/bytes.ts";

/** The index after the closing quote, or -1. Strings other than templates end at the end of the line. */
function skipString(text: string, start: number, end: number): number {
  const quote = text.charCodeAt(start);
  for (let i = start + 1; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c === 92) i++;
    else if (c === quote) return i + 1;
    else if (c === 10) return -1;
  }
  return -1;
}

/** The index after the closing backtick, or -1. `${…}` may contain any balanced code. */
function skipTemplate(text: string, start: number, end: number, depth: number): number {
  for (let i = start + 1; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c === 92) i++;
    else if (c === 96) return i + 1;
    else if (c === 36 && text.charCodeAt(i + 1) === 123) {
      const after = skipBraces(text, i + 1, end, depth + 1);
      if (after === -1) return -1;
      i = after - 1;
    }
  }
  return -1;
}

function skipComment(text: string, start: number, end: number): number {
  if (text.charCodeAt(start + 1) === 42) {
    const close = findWithin(text, "*/", start + 2, end);
    return close === -1 ? -1 : close + 2;
  }
  const close = findWithin(text, "\n", start, end);
  return close === -1 ? end : close;
}

// No real page nests deeper: beyond it, the text is not code.
const depthMax = 200;

/** The index after the `}` that closes the `{` at start, by JavaScript's rules, or -1. Nothing is evaluated. */
export function skipBraces(text: string, start: number, end: number, depth = 0): number {
  if (depth > depthMax) return -1;
  let open = 0;
  for (let i = start; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c === 123) open++;
    else if (c === 125) {
      open--;
      if (open === 0) return i + 1;
    } else if (c === 34 || c === 39) {
      // An apostrophe in JSX text is not a string: skip only what closes on its line.
      const after = skipString(text, i, end);
      if (after !== -1) i = after - 1;
    } else if (c === 96) {
      const after = skipTemplate(text, i, end, depth);
      if (after === -1) return -1;
      i = after - 1;
    } else if (c === 47 && (text.charCodeAt(i + 1) === 42 || text.charCodeAt(i + 1) === 47)) {
      // A URL in JSX text is not a comment.
      if (text.charCodeAt(i + 1) === 47 && text.charCodeAt(i - 1) === 58) continue;
      const after = skipComment(text, i, end);
      if (after === -1) return -1;
      i = after - 1;
    }
  }
  return -1;
}
