import { plainKeys, runningKeys } from "./content-table.ts";
import { flavorOf } from "./markdown-flavors.ts";
import { collectParts, type Part, type Parts } from "./page-parts.ts";
import { withoutNames } from "./plain-forms.ts";
import { readConfiguration } from "./read-configuration.ts";
import { readMarkdown } from "./read-markdown.ts";
import { readAsciidoc, readRst } from "./read-plain.ts";

/** `markdown` is followed by the builders that may read the page, a configuration and a file of navigation by its path. */
export type Syntax =
  | "mdx"
  | "mdx mintlify"
  | "rst"
  | "asciidoc"
  | "text"
  | `markdown${string}`
  | `configuration ${string}`
  | `navigation ${string}`;

/** Collects what a file does beyond showing text. Nothing is evaluated, and the time is linear. */
export function readPage(written: string, syntax: Syntax): readonly Part[] {
  const parts = collectParts();
  const [kind, name = ""] = syntax.split(/ (.*)/s);
  readCharacters(parts, written);
  const text = /^(?:configuration|navigation)$/.test(kind ?? "") ? written : withLineFeeds(written);
  if (kind === "configuration" || kind === "navigation")
    readConfiguration(parts, text, { path: name, isWhole: kind === "navigation" });
  else {
    read(text);
    // Blanks besides those of ASCII end a word for some parsers only.
    const joined = text.replaceAll(/(?! )\p{Zs}/gu, "·");
    if (joined !== text) read(joined);
  }
  return parts.all;

  function read(page: string): void {
    if (kind === "text")
      for (const { 0: line, index } of page.matchAll(/[^\n]+/g)) parts.value(line, index, { loads: false });
    else if (kind === "rst") readRst(parts, page);
    else if (kind === "asciidoc") readAsciidoc(parts, page);
    else {
      const from = readFrontMatter(parts, page);
      for (const one of kind === "mdx" ? [name || "mdx"] : name.split("|"))
        readMarkdown(parts, page, from, flavorOf(one));
    }
  }
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
  for (const { character, before, after, index } of invisibleIn(text))
    parts.form((/\S*$/.exec(before)?.[0] ?? "") + character + (/^\S*/.exec(after)?.[0] ?? ""), index);
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

/** Front matter between two exact `---` (or `+++`) lines, read line by line. Returns where the page's text begins. */
function readFrontMatter(parts: Parts, text: string): number {
  // Without marks: JSON, Org, and the lines that MkDocs takes for the page's data.
  const [org] = /^\ufeff?\s*#\+[^\n]*/.exec(text) ?? [];
  if (org) parts.form(org, 0);
  const [json] = /^\ufeff?\s*\{\s*(?:\n|["'}])[\s\S]*?(?=\n\s*\n|$)/.exec(text) ?? [];
  if (json) parts.form(json, 0);
  const [data = ""] = /^\ufeff?(?:[ \t]*[\w-]+:[^\n]*\n| {4,}[^\n]*\n)+/.exec(text) ?? [];
  for (const [line, key = ""] of data.matchAll(/^(?:[ \t]*([\w-]+):)?.*/gm))
    if (runningKeys.test(key) || /[<"]/.test(line)) parts.form(line, 0);
  // Some parsers end it at the first line that begins with a mark, and show the rest.
  const [whole = "", , fields = ""] =
    /^(---|\+\+\+)\r?\n((?:(?!---|\+\+\+|\.\.\.)[^\n]*\n)*)\1\r?(?:\n|$)/.exec(text) ?? [];
  // A field goes on to the next line that begins with its name.
  for (const field of fields.split(/^(?=[^\s#\]-])/m)) readField(parts, field.trim());
  const [first] = /^\ufeff?[^\S\n]*(?:-{3,}|\+{3,}|;{3,}|={3,})[^\n]*/.exec(text) ?? [];
  if (whole === "" && first !== undefined && !/^-{4,}$/.test(first)) parts.form(first, 0);
  return whole.length;
}

/** What YAML and TOML read as a name and a plain value. Tags can call constructors, and anchors refer to other parts. */
const fieldLine = /^[ \t]*(?:-[ \t]+)*(?:([\w.:-]+)[ \t]*(?::(?=\s|$)|=))?[ \t]*(.*?)[ \t\r]*$/;
const activeValue =
  /[<{}\\]|&#?\w+;|"""|'''|^[%@`]|^[?:](?:\s|$)|^"(?![^"]*"(?:,| #.*)?$)|^'(?!(?:[^']|'')*'(?:,| #.*)?$)|(?:^|[[,]\s*)[!&*]\S|^\[.*:[\s"']/;

/** A page at another address, never a script or a hidden file. */
const plainPermalink = /^permalink: +(["']?)\/?(?:[\w-]+\/)*(?:[\w-]+(?:\.html)?)?\1$/;

function readField(parts: Parts, field: string): void {
  const at = 4;
  const key = /^(?:\[\[?)?([\w.:-]+)[ \t]*(?::(?=\s|$)|=|\]\]?(?=\s|$))/.exec(field)?.[1] ?? "";
  if (runningKeys.test(key) && !plainPermalink.test(field)) parts.form(field, at, key);
  else if (key !== "" && !plainKeys.has(key)) parts.form(`${key}:`, at, key);
  const isFolded = /^[\w.-]+:[ \t]+[>|][+-]?[ \t]*\n/.test(field);
  for (const [index, line] of valuesIn(field, isFolded).entries()) {
    const isWords = isFolded && index > 0;
    const [, name, value = ""] = (isWords ? null : fieldLine.exec(line)) ?? [null, undefined, line.trim()];
    // Nested fields are named as another page names them.
    if (index > 0 && name && !plainKeys.has(name)) parts.form(`${key}.${name}:`, at, name);
    const isText = isWords || name !== undefined || /^["'#]/.test(value) || !/:(?:\s|$)/.test(value);
    // A quote can end an attribute or a string in which a theme shows the value.
    const quoted = /^"[^"]*"/.test(value) ? value.replace(/^"([^"]*)"/, "$1") : value;
    if (
      !isText ||
      activeValue.test(withoutNames(value)) ||
      /".*[=;]/.test(quoted) ||
      (key === "" && /^[^#]/.test(value))
    )
      parts.form(line.trim(), at);
    const plain = /^(["'])(.*)\1/.exec(value)?.[2] ?? value;
    if (/^[a-z][a-z0-9+.-]*:\S+$|^(?:[a-z]+:)?\/\//i.test(plain)) parts.address(plain, at, { loads: true });
    else parts.value(plain, at);
    if (/(?:^|\/)\.\.(?:\/|$)/.test(plain)) parts.address(plain, at);
  }
}

/** The lines of a field, each with those that go on with its value. */
function valuesIn(field: string, isFolded: boolean): readonly string[] {
  const [first = "", ...others] = field.split("\n");
  const values = isFolded ? [first, ""] : [first];
  for (const line of others) {
    const isNew = !isFolded && /^\s*(?:-\s|-$|[\w.:-]+[ \t]*(?::(?=\s|$)|=)|[#\]}]|["'])/.test(line);
    if (isNew || line.trim() === "") values.push(line);
    else values.push(`${values.pop()} ${line.trim()}`);
  }
  return values;
}
