/** How the site's builder reads Markdown. Without a known builder, every doubt counts. */
export interface Flavor {
  mdx: boolean;
  /** Fences inside lists and quotes. */
  nested: boolean;
  /** commonmark: HTML ends at a blank line; spans: it goes on, but not over fences; raw: it goes on over everything. */
  html: "commonmark" | "spans" | "raw";
  /** Text that works even inside shown code: templates and includes. */
  insideCode: RegExp | null;
  /** Characters that a backslash makes plain. */
  escapable: string;
  /** Vue compiles what character references stand for. */
  vue: boolean;
  /** Braces that are text. */
  braces: RegExp | null;
  /** An unknown element without attributes is nothing but its text. */
  unknownElements: boolean;
  /** All words behind a fence's language are its label. */
  labels: boolean;
  /** With other words behind its marks, a fence is none. */
  infos: RegExp | null;
}

const templates = String.raw`\{\{[\s\S]{0,2000}?\}\}|\{%[\s\S]{0,2000}?%\}|\{\{|\{%`;
const snippets = String.raw`^.*-+8<-+.*$|\{[!*][^{}\n]*[!*]\}`;
const inclusions = String.raw`<!--\s*@include[^\n]*`;
const commonmark: Flavor = {
  mdx: false,
  nested: true,
  html: "commonmark",
  insideCode: null,
  escapable: "<\\",
  vue: false,
  braces:
    /^\{(?![^}]*\b(?:hidden|inert|popover|autofocus|contenteditable)\b)(?:[\p{L}\p{N} ,._$|/-]*|\\[a-z](?:(?!\{[{%])[^<>`"'=])*)\}$/iu,
  unknownElements: true,
  labels: false,
  infos: null,
};
const mdx: Flavor = { ...commonmark, mdx: true, escapable: "<{\\", braces: null, unknownElements: false };
const flavors: Readonly<Record<string, Flavor>> = {
  commonmark,
  mdx,
  mintlify: { ...mdx, labels: true },
  // `{word}` can be an attribute.
  vue: {
    ...commonmark,
    vue: true,
    braces: /^\{\\[a-z](?:(?!\{[{%])[^<>`"'=])*\}$/,
    unknownElements: false,
    insideCode: new RegExp(inclusions, "g"),
  },
  hugo: { ...commonmark, insideCode: /\{\{[<%][\s\S]{0,2000}?[%>]\}\}|\{\{[<%]/g },
  mdbook: { ...commonmark, insideCode: /\{\{\s*#[^{}\n]*\}\}|\{\{\s*#/g },
  liquid: {
    ...commonmark,
    html: "raw",
    insideCode: new RegExp(templates, "g"),
    escapable: "",
    unknownElements: false,
    infos: /^[ \t]*\S*[ \t]*$/,
  },
  python: {
    ...commonmark,
    nested: false,
    html: "spans",
    insideCode: new RegExp(snippets, "gm"),
    escapable: "",
    infos: /^ *(?:\{[^\n]*\}|[\w#.+-]*(?: +hl_lines="[^"]*")?) *$/,
  },
  superfences: {
    ...commonmark,
    html: "spans",
    insideCode: new RegExp(snippets, "gm"),
    escapable: "",
    infos: /^ *(?:\{[^\n]*\}|[\w#.+-]*(?: +(?:hl_lines|linenums|title)="[^"]*")*) *$/,
  },
};
const unknown: Flavor = {
  ...commonmark,
  nested: false,
  html: "raw",
  insideCode: new RegExp(`${templates}|${snippets}|${inclusions}`, "gm"),
  escapable: "",
  vue: true,
  unknownElements: false,
  infos: /^ *[\w#.+-]* *$/,
  braces:
    /^\{(?!(?:hidden|inert|popover|autofocus|contenteditable)\b)(?:[\p{L}\p{N}_-]*|\\[a-z](?:(?!\{[{%])[^<>`"'=])*)\}$/iu,
};

/** By the builder's name. */
export function flavorOf(name: string): Flavor {
  return flavors[name] ?? unknown;
}
