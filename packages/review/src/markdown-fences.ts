import type { Flavor } from "./markdown-flavors.ts";
import { fenceStart, lineAt, startOf } from "./markdown-spans.ts";

export interface Fence {
  /** Offsets of the body, and of the line after the closing fence. */
  body: number;
  close: number;
  end: number;
  info: string;
}

interface Page {
  text: string;
  flavor: Flavor;
  isInHtml: boolean;
  /** Where the last chunk ended, if it has HTML: a fence right behind it may be part of that. */
  htmlEnd: number;
}

/** "odd": parsers disagree on whether this is a fence, or on where it ends. */
export function findFence(page: Page, start: number): Fence | "odd" | null {
  const { text, flavor } = page;
  const line = lineAt(text, start);
  const [, before = "", marker = "", info = ""] = fenceStart.exec(line) ?? [];
  if (marker === "") return null;
  // A span of code that takes a line.
  if (marker[0] === "`" && info.includes("`")) return before === "" || flavor.nested ? null : "odd";
  if (before !== "" && !flavor.nested) return null;
  if (before.includes("\t") && !flavor.mdx) return "odd";
  // Behind a marker in its own line, or below a line of another block, parsers may go on with that.
  const isMarked = /[^\s>]/.test(before);
  const above = start === 0 ? "" : lineAt(text, startOf(text, start - 1));
  if (isMarked ? flavor.html !== "commonmark" || above.trim() !== "" : !flavor.mdx && !isSameBlock(above, before))
    return "odd";
  const prefix = before.replaceAll(/[^\s>]/g, " ");
  if (flavor.html !== "spans" && !isFree(page, start, before.length)) return "odd";
  if (page.isInHtml && flavor.html === "raw") return "odd";
  if (flavor.infos && !flavor.infos.test(info)) return "odd";
  const body = start + line.length + 1;
  const width = /^ +$/.test(before) ? widthAround(page, start, before.length) : before.length;
  for (let next = body; next < text.length; ) {
    const one = lineAt(text, next);
    const isClose =
      one.slice(width).trim() === marker &&
      (flavor.mdx ? /^ *$/ : /^ {0,3}$/).test(one.slice(width, one.indexOf(marker)));
    if (isClose && one.startsWith(prefix.slice(0, width)))
      return { body, close: next, end: next + one.length + 1, info };
    // A blank line without its mark ends a quote.
    const isOut =
      (one.trim() !== "" || prefix.includes(">")) &&
      !one.startsWith(prefix.slice(0, width)) &&
      one !== prefix.trimEnd();
    const endsAround = !flavor.mdx && /^[\s>]*(?::{3,}|\$\$)/.test(one);
    if (
      isOut ||
      endsAround ||
      (one.replace(/^[\s>]*/, "").startsWith(marker) && new RegExp(`^[\\s>]*[${marker[0]}]+\\s*$`).test(one))
    )
      return "odd";
    next += one.length + 1;
  }
  return "odd";
}

/** How far a fence's lines are indented at least: as the list item that it is in, or not at all if it is surely in none. */
function widthAround({ text, flavor }: Page, start: number, indent: number): number {
  if (flavor.html !== "commonmark") return indent;
  let isText = false;
  for (let end = start - 1, lines = 0; end >= 0; end = startOf(text, end) - 1, lines += 1) {
    const above = text.slice(startOf(text, end), end);
    const [, marker = "", blanks = ""] = /^( *(?:[-*+]|\d{1,9}[.)]))( *)(?=\S)/.exec(above) ?? [];
    const width = marker.length + (blanks.length <= 4 ? blanks.length : 1);
    if (lines === 50 || /^ *(?:[>:\t]|\[\^|(?:[-*+]|\d{1,9}[.)]) *(?:\t|$))/.test(above)) return indent;
    if (isText && (above.trim() === "" || marker !== "")) return marker === "" ? 0 : indent;
    if (blanks !== "" && width <= indent) return width;
    isText ||= marker === "" && /^\S/.test(above);
  }
  return 0;
}

/** A fence stands at most three blanks inside the list item above it, or inside the page, and not right behind HTML. */
function isFree({ text, flavor, htmlEnd }: Page, start: number, indent: number): boolean {
  if (flavor.mdx) return true;
  let isBehindBlank = start === 0;
  for (let end = start - 1, lines = 0; end >= 0 && lines < 50; end = startOf(text, end) - 1, lines += 1) {
    const above = text.slice(startOf(text, end), end);
    const isBlank = above.trim() === "" || (indent > 0 && above.replaceAll(/[\s>]/g, "") === "");
    isBehindBlank ||= isBlank && lines === 0;
    if (isBlank) continue;
    const width = /^[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+/.exec(above)?.[0].length ?? 0;
    if (width > 0 && width <= indent) return indent <= width + 3 && (isBehindBlank || htmlEnd !== start);
    // Here the page's own text goes on.
    if (width === 0 && /^(?:> ?)*[^\s>]/.test(above)) break;
  }
  return indent <= 3 && (isBehindBlank || htmlEnd !== start);
}

/** Whether the line above a fence is blank, or of the block that the fence is in. */
function isSameBlock(above: string, before: string): boolean {
  if (above.trim() === "") return true;
  if (before.includes(">")) return above.startsWith(before.trimEnd());
  const [inside = ""] = /^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*/.exec(above) ?? [];
  return inside.length === before.length && !/^[ \t]*(?:>|:[ \t]|\[\^)/.test(above);
}
