import { parse as parseToml } from "smol-toml";
import { isAlias, visit } from "yaml";
import { forbidden, runningFields } from "./forbidden.ts";
import type { Parts } from "./parts.ts";
import { parseYaml } from "./read-yaml.ts";
import { exactFields, fields } from "./schema.ts";

/** Front matter between two exact `---` (or `+++`) lines. Returns where the page's text begins. */
export function readFrontMatter(parts: Parts, text: string, isMdx: boolean): number {
  const odd = (one: string) => parts.unknown("other", one, 0, "Some builders read the beginning of this page as data.");
  // Without marks: JSON, Org, and the lines that MkDocs takes for the page's data.
  const [unmarked] = /^\ufeff?\s*(?:#\+[^\n]*|\{\s*(?:\n|["'}])[\s\S]*?(?=\n\s*\n|$))/.exec(text) ?? [];
  if (unmarked && !isMdx) odd(unmarked);
  const [unfenced = ""] = /^\ufeff?(?:[ \t]*[\w-]+:(?![\w/`])[^\n]*\n| {4,}[^\n]*\n)+/.exec(text) ?? [];
  for (const [line, key = ""] of unfenced.matchAll(/^(?:[ \t]*([\w-]+):)?.*/gm))
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
  let data: unknown;
  try {
    data = marks === "+++" ? parseToml(inner) : readYaml(parts, inner);
  } catch {
    data = [];
  }
  if (typeof (data ?? {}) !== "object" || Array.isArray(data))
    parts.unknown("other", inner.trim(), marksLength, "This front matter cannot be read as plain data.");
  else
    for (const [key, value] of Object.entries(data ?? {})) {
      const name = key.replaceAll(/\W/g, "\\$&");
      const at = inner.search(new RegExp(`^(?:\\[*|["'])${name}(?!\\w)`, "m"));
      const isBlock = at !== -1 && (marks === "---" || typeof value !== "object");
      const block = inner.slice(at).replace(/\n(?=[^\s#}\]-])[\s\S]*/, "");
      const shown = isBlock ? block.trim() : `${key} ${JSON.stringify(value)}`;
      readField(parts, key, shown, marksLength + Math.max(0, at), stringsIn(value));
    }
  return whole.length;
}

const marksLength = 4;

function readYaml(parts: Parts, inner: string): unknown {
  const document = parseYaml(inner);
  visit(document, {
    Node(_, node) {
      const { tag = "", anchor } = node as { tag?: string; anchor?: string };
      const [from = 0, to = 0] = node.range ?? [];
      const [text, at] = [inner.slice(from, to), marksLength + from];
      if (/python|ruby|js|function|eval/i.test(tag))
        parts.refuse("attribute", text, at, "This tag runs code.", forbidden.frontMatter);
      else if (isAlias(node) || anchor || !/^(?:tag:yaml\.org,2002:(?:str|int|float|bool|null|map|seq))?$/.test(tag))
        parts.unknown("attribute", text, at, "This value is more than plain data.");
    },
  });
  return document.toJS();
}

function* stringsIn(value: unknown): Generator<[key: string, value: string]> {
  if (value !== null && typeof value === "object" && !(value instanceof Date))
    for (const [key, one] of Object.entries(value))
      for (const [inner, text] of stringsIn(one))
        yield [Array.isArray(value) ? inner : inner === "" ? key : `${key}.${inner}`, text];
  else yield ["", String(value ?? "")];
}

function readField(parts: Parts, name: string, text: string, at: number, values: Iterable<[string, string]>): void {
  const list = [...values];
  if (runningFields.test(name))
    return void parts.refuse(
      "attribute",
      text,
      at,
      `Themes and builders run what ${name} says.`,
      forbidden.frontMatter,
    );
  if (exactFields.test(name)) parts.unknown("attribute", text, at, `No page of this site has this value of ${name}.`);
  else if (!fields.test(name) && !list.every(([key, value]) => key === "" && /^[\p{L}\p{N} .,'_-]*$/u.test(value)))
    parts.unknown("attribute", text, at, `No page of this site has the field ${name}.`, {
      key: `field ${name}`,
      find: name,
    });
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
