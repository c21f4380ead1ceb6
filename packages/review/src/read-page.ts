import { collectParts, type Part, type Parts } from "./parts.ts";
import { readConfiguration } from "./read-configuration.ts";
import { readFrontMatter } from "./read-front-matter.ts";
import { readMarkdown } from "./read-markdown.ts";
import { readAsciidoc, readRst } from "./read-markup.ts";
import type { Syntax } from "./syntax.ts";

/** Collects what a file does beyond showing text. It is parsed once, and nothing is evaluated. */
export function readPage(written: string, { kind, path, flavor }: Syntax): readonly Part[] {
  const parts = collectParts();
  readCharacters(parts, written);
  const text = withLineFeeds(written);
  if (kind === "configuration" || kind === "navigation")
    readConfiguration(parts, written, { path, isWhole: kind === "navigation" });
  else if (kind === "text") for (const { 0: line, index } of text.matchAll(/[^\n]+/g)) parts.hosts(line, index, false);
  else if (kind === "rst") readRst(parts, text);
  else if (kind === "asciidoc") readAsciidoc(parts, text);
  else readMarkdown(parts, text, readFrontMatter(parts, text, flavor.isMdx), flavor);
  return parts.all;
}

/** Every parser takes both for the end of a line. */
export function withLineFeeds(text: string): string {
  return text.replaceAll("\r\n", "\n");
}

/** Characters that are not seen, or that end a line for some parsers only. */
const invisible =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|\r(?!\n)|\u034f|[\u17b4\u17b5]|[\u180b-\u180d\u180f]|[\ufe00-\ufe0f]|[\u{e0000}-\u{e0fff}\u{1d173}-\u{1d17a}]|[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]/gu;

/** Those of them that the text around does not explain, with that text. */
export function* invisibleIn(
  text: string,
): Generator<Record<"character" | "before" | "after", string> & { index: number }> {
  for (const { 0: character, index } of text.matchAll(invisible)) {
    const before = text.slice(Math.max(0, index - 60), index);
    const after = text.slice(index + character.length, index + 60);
    if (!isOrdinary(character, before, after)) yield { character, before, after, index };
  }
}

function readCharacters(parts: Parts, text: string): void {
  for (const { character, before, after, index } of invisibleIn(text)) {
    if (character === "\ufeff" && index === 0) continue;
    const shown = (/\S*$/.exec(before)?.[0] ?? "") + character + (/^\S*/.exec(after)?.[0] ?? "");
    parts.unknown("invisible characters", shown, index, "A reader of the change does not see these characters.");
  }
}

/** Joiners inside words of scripts that have them and between emoji, an emoji's style, a blank inside a sentence. */
function isOrdinary(character: string, before: string, after: string): boolean {
  if (/[\u200c\u200d]/.test(character))
    return /(?:\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})$/u.test(before)
      ? /^(?:\p{Extended_Pictographic}|[♀♂⚕⚖✈❤➡⬛])/u.test(after)
      : /(?![\p{Script=Latin}\p{Script=Han}])[\p{L}\p{M}]$/u.test(before) && /^[\p{L}\p{M}\s]/u.test(after);
  if (/[\ufe0e\ufe0f]/.test(character)) return /(?:[\p{Emoji}\p{So}\p{Sm}])$/u.test(before);
  // The blank of Chinese and Japanese also begins a paragraph.
  if (character === "\u3000" && /^\u3000*[\p{L}\p{N}「『（【]/u.test(after)) return true;
  // Not where a line's first characters decide what it is.
  if (/\p{Zs}/u.test(character)) return /[^\s\-#>+*:.`~=|!<{[;%@][^\n]*$/u.test(before) && /^[^\n]*\S/u.test(after);
  return false;
}
