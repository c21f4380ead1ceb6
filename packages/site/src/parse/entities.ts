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
