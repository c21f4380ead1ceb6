/** The range of an inline link's destination, and the end of the link. Null if `(` starts no link. */
export interface Destination {
  start: number;
  end: number;
  after: number;
}

function skipSpace(text: string, from: number, end: number): number {
  let i = from;
  while (i < end && text.charCodeAt(i) <= 32) i++;
  return i;
}

function skipTitle(text: string, from: number, end: number): number {
  const open = text.charCodeAt(from);
  const close = open === 40 ? 41 : open;
  for (let i = from + 1; i < end; i++) {
    const c = text.charCodeAt(i);
    if (c === 92) i++;
    else if (c === close) return i + 1;
    else if (c === 40 && close === 41) return -1;
  }
  return -1;
}

const templateLengthMax = 300;

/**
 * The last character of a template (`{{ … }}` or `{% … %}`) that starts here, which may contain spaces. Else the brace
 * itself.
 */
function templateEnd(text: string, from: number, end: number): number {
  const close = text.charCodeAt(from + 1) === 123 ? "}}" : text.charCodeAt(from + 1) === 37 ? "%}" : null;
  if (close === null) return from;
  const at = text.slice(from, Math.min(end, from + templateLengthMax)).indexOf(close);
  return at === -1 ? from : from + at + 1;
}

/** Reads `(target "title")` from its opening parenthesis. */
export function readDestination(text: string, open: number, end: number): Destination | null {
  let i = skipSpace(text, open + 1, end);
  let start = i;
  let stop = i;
  if (text.charCodeAt(i) === 60) {
    start = i + 1;
    for (i = start; i < end; i++) {
      const c = text.charCodeAt(i);
      if (c === 92) i++;
      else if (c === 62) break;
      else if (c === 10 || c === 60) return null;
    }
    if (i >= end) return null;
    stop = i;
    i++;
  } else {
    let depth = 0;
    for (; i < end; i++) {
      const c = text.charCodeAt(i);
      if (c <= 32) break;
      if (c === 92) i++;
      else if (c === 123) i = templateEnd(text, i, end);
      else if (c === 40) {
        if (++depth > 32) return null;
      } else if (c === 41) {
        if (depth === 0) break;
        depth--;
      }
    }
    if (depth !== 0) return null;
    stop = Math.min(i, end);
  }
  const gap = skipSpace(text, i, end);
  const c = text.charCodeAt(gap);
  if (gap < end && c === 41) return { start, end: stop, after: gap + 1 };
  if (gap === i || (c !== 34 && c !== 39 && c !== 40)) return null;
  const afterTitle = skipTitle(text, gap, end);
  if (afterTitle === -1) return null;
  const close = skipSpace(text, afterTitle, end);
  return close < end && text.charCodeAt(close) === 41 ? { start, end: stop, after: close + 1 } : null;
}

const named: Record<string, string> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
  copy: "©",
  reg: "®",
  trade: "™",
  hellip: "…",
  mdash: "—",
  ndash: "–",
  lsquo: "‘",
  rsquo: "’",
  ldquo: "“",
  rdquo: "”",
  rarr: "→",
  larr: "←",
  times: "×",
  colon: ":",
  lbrace: "{",
  rbrace: "}",
  lbrack: "[",
  rbrack: "]",
  lpar: "(",
  rpar: ")",
  num: "#",
  sol: "/",
  ast: "*",
  lowbar: "_",
  vert: "|",
  bsol: "\\",
  grave: "`",
  shy: "\u00ad",
  middot: "·",
  bull: "•",
};

const entity = /&(?:#([0-9]{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));/g;

function codePoint(value: number): string {
  return value === 0 || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)
    ? "\ufffd"
    : String.fromCodePoint(value);
}

/** Decodes character references. Only names that occur in documentation are supported; others stay unchanged. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(entity, (whole, decimal?: string, hex?: string, name?: string) => {
    if (decimal !== undefined) return codePoint(Number(decimal));
    if (hex !== undefined) return codePoint(Number.parseInt(hex, 16));
    return named[name ?? ""] ?? whole;
  });
}

const escaped = /\\([!-/:-@[-`{-~])/g;

export function decodeEscapes(text: string): string {
  return text.includes("\\") ? text.replace(escaped, "$1") : text;
}
