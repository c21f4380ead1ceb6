import { parse as parseToml } from "smol-toml";
import { isAlias, isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import { forbidden, runningFields } from "./forbidden.ts";
import type { Parts } from "./parts.ts";
import { exactFields, fields } from "./schema.ts";

/** Front matter between two exact `---` (or `+++`) lines. Returns where the page's text begins. */
export function readFrontMatter(parts: Parts, text: string, isMdx: boolean): number {
  const odd = (one: string) => parts.unknown("other", one, 0, "Some builders read the beginning of this page as data.");
  // Without marks: JSON, Org, and the lines that MkDocs takes for the page's data.
  const [unmarked] = /^\ufeff?\s*(?:#\+[^\n]*|\{\s*(?:\n|["'}])[\s\S]*?(?=\n\s*\n|$))/.exec(text) ?? [];
  if (unmarked && !isMdx) odd(unmarked);
  const [data = ""] = /^\ufeff?(?:[ \t]*[\w-]+:(?![\w/`])[^\n]*\n| {4,}[^\n]*\n)+/.exec(text) ?? [];
  for (const [line, key = ""] of data.matchAll(/^(?:[ \t]*([\w-]+):)?.*/gm))
    if (runningFields.test(key) || exactFields.test(key) || /[<"]/.test(line)) odd(line);
  const [whole = "", marks = "", inner = ""] =
    /^(---|\+\+\+)\n((?:(?!---|\+\+\+|\.\.\.)[^\n]*\n)*)\1(?:\n|$)/.exec(text) ?? [];
  const [first] = /^\ufeff?[^\S\n]*(?:-{3,}|\+{3,}|;{3,}|={3,})[^\n]*/.exec(text) ?? [];
  if (whole === "") {
    if (first !== undefined && !/^-{4,}$/.test(first))
      parts.unknown(
        "other",
        first,
        0,
        "Some builders read front matter here.",
        /^-{3}\s*(?:js|javascript|coffee|eval)/i.test(first) ? { instead: forbidden.frontMatter } : {},
      );
    return 0;
  }
  if (marks === "+++") readToml(parts, inner);
  else readYaml(parts, inner);
  return whole.length;
}

const start = 4;

function readYaml(parts: Parts, inner: string): void {
  const document = parseDocument(inner, { logLevel: "silent" });
  if (document.errors.length > 0 || (document.contents !== null && !isMap(document.contents)))
    return void parts.unknown("other", inner.trim(), start, "This front matter cannot be read as plain data.");
  visit(document, {
    Node(_, node) {
      const { tag, anchor } = node as { tag?: string; anchor?: string };
      const isLocal =
        isAlias(node) || anchor || (tag && !/^tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq)$/.test(tag));
      const [from = 0, to = 0] = node.range ?? [];
      if (tag && /python|ruby|js|function|eval/i.test(tag))
        parts.unknown("attribute", inner.slice(from, to), start + from, "This tag runs code.", {
          instead: forbidden.frontMatter,
        });
      else if (isLocal)
        parts.unknown("attribute", inner.slice(from, to), start + from, "This value is more than plain data.");
    },
  });
  for (const { key, value } of isMap(document.contents) ? document.contents.items : []) {
    const range = (key as { range?: [number, number, number] }).range ?? [0, 0, 0];
    const to = (value as { range?: [number, number, number] } | null)?.range?.[1] ?? range[1];
    readField(parts, String(key), inner.slice(range[0], to).trimEnd(), start + range[0], stringsIn(value));
  }
}

function* stringsIn(node: unknown): Generator<[key: string, value: string]> {
  if (isScalar(node)) yield ["", String(node.value ?? "")];
  if (isSeq(node)) for (const one of node.items) yield* stringsIn(one);
  if (isMap(node))
    for (const { key, value } of node.items)
      for (const [inner, text] of stringsIn(value)) yield [inner === "" ? String(key) : `${key}.${inner}`, text];
}

function readToml(parts: Parts, inner: string): void {
  let data: Record<string, unknown>;
  try {
    data = parseToml(inner);
  } catch {
    return void parts.unknown("other", inner.trim(), start, "This front matter cannot be read as plain data.");
  }
  for (const [key, value] of Object.entries(data)) {
    const at = Math.max(0, inner.search(new RegExp(`^\\s*\\[*${key.replaceAll(/\W/g, "\\$&")}\\b`, "m")));
    const text = inner.slice(at, Math.max(at + 1, inner.indexOf("\n", at + 1)));
    readField(
      parts,
      key,
      typeof value === "object" ? `${key} ${JSON.stringify(value)}` : text.trim(),
      start + at,
      plainStrings(value),
      key,
    );
  }
}

function* plainStrings(value: unknown): Generator<[string, string]> {
  if (value !== null && typeof value === "object" && !(value instanceof Date))
    for (const [key, one] of Object.entries(value))
      for (const [inner, text] of plainStrings(one)) yield [inner === "" && !Array.isArray(value) ? key : inner, text];
  else yield ["", String(value ?? "")];
}

function readField(
  parts: Parts,
  name: string,
  text: string,
  at: number,
  values: Iterable<[string, string]>,
  find = name,
): void {
  const list = [...values];
  if (runningFields.test(name))
    return void parts.unknown("attribute", text, at, `Themes and builders run what ${name} says.`, {
      instead: forbidden.frontMatter,
    });
  if (exactFields.test(name)) parts.unknown("attribute", text, at, `No page of this site has this value of ${name}.`);
  else if (!fields.test(name) && !list.every(([key, value]) => key === "" && /^[\p{L}\p{N} .,'_-]*$/u.test(value)))
    parts.unknown("attribute", text, at, `No page of this site has the field ${name}.`, { key: `field ${name}`, find });
  for (const [key, value] of list) {
    const nested = `${name}.${key}`;
    if (/^on[A-Z]|script|html$/i.test(key)) parts.unknown("attribute", text, at, `Themes may run what ${nested} says.`);
    else if (
      key !== "" &&
      !/^(?:\w|-)*(?:text|link|title|label|name|order|class|icon|alt|src|details|items|theme|light|dark|width|height|tagline|file|badge|variant|weight|parent|identifier|url|email|github)$/i.test(
        key,
      )
    )
      parts.unknown("attribute", text, at, `No page of this site has the field ${nested}.`, {
        key: `field ${nested}`,
        find: key.split(".").at(-1) ?? key,
      });
    if (
      /<[a-z!/?][^>]*[\s=/"']|<(?:script|style|iframe|svg|img|object|embed)|\{\{|\{%|[{}].*[=;(]|\]\(|javascript:|\\[<x]/i.test(
        value,
      ) ||
      (/"/.test(value) && /[=;]/.test(value))
    )
      parts.unknown(
        "attribute",
        text,
        at,
        `The value of ${name} is not plain text.`,
        /<script|\bon\w+\s*=|javascript:/i.test(value) ? { instead: forbidden.frontMatter } : {},
      );
    if (/^[a-z][a-z0-9+.-]*:\S+$|^(?:[a-z]+:)?\/\//i.test(value))
      parts.address(value, at, { loads: /image|icon|src|logo|card|thumb/i.test(nested), text });
    else parts.hosts(value, at, false);
    if (/(?:^|\/)\.\.(?:\/|$)/.test(value)) parts.address(value, at, { text });
  }
}
