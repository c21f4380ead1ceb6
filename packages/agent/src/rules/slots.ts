import type { SlotLengths } from "./pattern.ts";
import type { Token } from "./tokens.ts";
import { reserved } from "./words.ts";

const termWordsMax = 6;
const listedPagesMax = 200;
const pathCharacters = /^[\p{L}\p{M}\p{N}._~%+@/-]+$/u;
const pathLike = /\/|\.mdx?$/i;
const fieldName = /^[A-Za-z_][A-Za-z0-9_-]*$/;
const bareValue = /^(?:-?\d+(?:\.\d+)?|true|false|\d{4}-\d{2}-\d{2})$/i;
/** Words after "set the … of" that are parts of a page, not front matter fields. */
const notFields = new Set(
  "a an the of on in for to heading headings link links text content contents body navigation page pages folder redirect redirects term file name front matter front-matter frontmatter metadata field".split(
    " ",
  ),
);

/** Fields that frameworks define. Without quotes they are not confused with a page's text. */
const knownFields = new Set(
  "title sidebartitle sidebar_title sidebar_label sidebar_position description icon hidden draft slug tags keywords order weight author authors date updated image layout template toc noindex deprecated version mode tag nav_order nav_exclude hide pagination_next pagination_prev".split(
    " ",
  ),
);

/** The possible token counts of each slot type, judged only by the tokens' form. */
export const slotLengths: SlotLengths = (type, tokens, at) => {
  switch (type) {
    case "term":
      return termLengths(tokens, at);
    case "phrase":
      return termLengths(tokens, at).filter((length) => !isPathLike(textOf(tokens.slice(at, at + length))));
    case "label":
      return only(isFilledQuote(tokens[at]) && !isPathLike(textOf(tokens.slice(at, at + 1))));
    case "page":
      return only(isPage(tokens[at]));
    case "path":
      return only(isPage(tokens[at]) && isPathLike(textOf(tokens.slice(at, at + 1))));
    case "folder":
      return only(isPage(tokens[at]) && textOf(tokens.slice(at, at + 1)).endsWith("/"));
    case "quoted":
      return only(isFilledQuote(tokens[at]));
    case "text":
      return only(tokens[at]?.kind === "quoted" || tokens[at]?.kind === "fence");
    case "value":
      return only(isValue(tokens[at]));
    case "field":
      return only(isField(tokens[at]));
    case "bare":
      return only(tokens[at]?.kind === "word" && isField(tokens[at]));
    case "known":
      return only(isField(tokens[at]) && knownFields.has(textOf(tokens.slice(at, at + 1)).toLowerCase()));
    case "pages":
      return pagesLength(tokens, at);
    case "several":
      return severalLengths(tokens, at);
    default:
      throw new Error(`unknown slot type ${type}`);
  }
};

export function textOf(tokens: readonly Token[] | undefined): string {
  return (tokens ?? []).flatMap((token) => ("text" in token ? [token.text] : [])).join(" ");
}

/** The pages of a list, without commas and "and". */
export function pagesOf(tokens: readonly Token[] | undefined): readonly string[] {
  return (tokens ?? []).filter(isPage).map((token) => textOf([token]));
}

function only(fits: boolean): readonly number[] {
  return fits ? [1] : [];
}

function termLengths(tokens: readonly Token[], at: number): readonly number[] {
  if (tokens[at]?.kind === "quoted") return only(isFilledQuote(tokens[at]));
  const lengths: number[] = [];
  for (let length = 1; length <= termWordsMax; length += 1) {
    const token = tokens[at + length - 1];
    if (token?.kind !== "word" || reserved.has(token.lower) || token.text.includes("/")) break;
    lengths.push(length);
  }
  return lengths;
}

function isFilledQuote(token: Token | undefined): boolean {
  return token?.kind === "quoted" && token.text.trim() !== "";
}

function isPage(token: Token | undefined): boolean {
  if (token?.kind === "quoted") return isFilledQuote(token) && !token.text.includes("\n");
  return token?.kind === "word" && pathCharacters.test(token.text) && !reserved.has(token.lower);
}

function isPathLike(text: string): boolean {
  return pathLike.test(text) && !/\s/.test(text);
}

function isValue(token: Token | undefined): boolean {
  return token?.kind === "quoted" || (token?.kind === "word" && bareValue.test(token.text));
}

function isField(token: Token | undefined): boolean {
  if (token?.kind !== "word" && token?.kind !== "quoted") return false;
  return fieldName.test(token.text) && !(token.kind === "word" && notFields.has(token.lower));
}

/** `a and b`, `a, b and c`: at least two, with "and" before the last. */
function severalLengths(tokens: readonly Token[], at: number): readonly number[] {
  let end = at;
  while (isPage(tokens[end]) && tokens[end + 1]?.kind === "comma" && end - at < listedPagesMax) end += 2;
  const last = tokens[end + 1];
  const isJoined = isPage(tokens[end]) && last?.kind === "word" && last.lower === "and" && isPage(tokens[end + 2]);
  const after = tokens[end - 1];
  const isListed = end > at && after?.kind === "comma" && isPage(tokens[end]);
  return isJoined && (end === at || isListed) ? [end + 3 - at] : [];
}

/** `a, b and c`: at least two, up to the end. */
function pagesLength(tokens: readonly Token[], at: number): readonly number[] {
  let end = at;
  let pages = 0;
  let needsPage = true;
  for (; end < tokens.length && pages <= listedPagesMax; end += 1) {
    const token = tokens[end];
    if (isPage(token)) {
      if (!needsPage) return [];
      pages += 1;
      needsPage = false;
    } else if (
      token?.kind === "comma" ||
      (token?.kind === "word" && (token.lower === "and" || token.lower === "then"))
    ) {
      needsPage = true;
    } else return [];
  }
  return pages >= 2 && !needsPage && end === tokens.length ? [end - at] : [];
}
