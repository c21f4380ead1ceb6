import { stripTypeScriptTypes } from "node:module";
import { parse as parseScript } from "acorn";
import { parse as parseToml } from "smol-toml";
import { isAlias, isMap, isPair, isScalar, isSeq, parseDocument, type Node as YamlNode } from "yaml";
import type { Parts } from "./page-parts.ts";

/** Where each framework keeps navigation and redirects: keys from the outside in, lists left out. */
const places: ReadonlyArray<readonly [file: RegExp, place: RegExp]> = [
  [
    /(?:docs|mint)\.json$/,
    /^(?:navigation|redirects|tabs|anchors|topbarLinks|topbarCtaButton|navbar\.links|footer\.links|footerSocials)(?:\.|$)/,
  ],
  [/vercel\.json$/, /^redirects$/],
  [/mkdocs\.ya?ml$/, /^nav(?:\.|$)|^plugins\.(?:redirects\.redirect_maps|llmstxt\.sections)(?:\.|$)/],
  [/\.gitbook\.ya?ml$/, /^redirects(?:\.|$)/],
  [/_config\.ya?ml$/, /^(?:nav|navigation|menu|sidebar|header_pages)(?:\.|$)/],
  [/(?:hugo|config)\.(?:ya?ml|json|toml)$/, /^(?:languages\.[\w-]+\.)?menus?(?:\.|$)/],
  [/netlify\.toml$/, /^redirects(?:\.|$)/],
  [/docusaurus\.config\.\w+$/, /^themeConfig\.(?:navbar\.items|footer\.links)(?:\.|$)/],
  [/\.(?:vitepress|vuepress)\//, /(?:^|\.)themeConfig\.(?:nav|sidebar)(?:\.|$)/],
  [/rspress\.config\.\w+$/, /^themeConfig\.(?:nav|sidebar)(?:\.|$)/],
  [/astro\.config\.\w+$/, /^(?:redirects|integrations\.sidebar)(?:\.|$)/],
  [/next\.config\.\w+$/, /^redirects(?:\.|$)/],
];
/** Elsewhere a key counts only if the file already has navigation at this place. */
const navigationKeys =
  /(?:^|\.)(?:nav|navbar|sidebars?\w*|items|links|pages|tabs|groups|menus?|redirects|redirect_maps)$/i;

/** A part of the source, as an interval, and the keys that lead to it. */
interface Cut {
  from: number;
  to: number;
}

/**
 * Splits a configuration into its navigation, whose strings become parts, and the rest, which must stay the same.
 * What cannot be read as plain data stays in the rest.
 */
export function readConfiguration(
  parts: Parts,
  text: string,
  { path, isWhole }: { path: string; isWhole: boolean },
): void {
  const known = places.find(([file]) => file.test(path))?.[1];
  const cuts: Cut[] = [];

  /** Whether the value at this place is navigation. The name of an unusual place is a part of its own. */
  function isPlace(place: string): boolean {
    return isWhole || known?.test(place) || navigationKeys.test(place);
  }
  function cut(place: string, from: number, to: number, strings: readonly string[]): void {
    cuts.push({ from, to });
    if (!isWhole && !known?.test(place)) parts.form(`navigation at ${place}`, from, place.split(".").at(-1));
    for (const one of strings) readString(parts, one, Math.max(from, text.indexOf(one, from)));
  }

  try {
    if (path.endsWith("_redirects")) {
      for (const one of text.split(/\s+/)) readString(parts, one, text.indexOf(one));
      return;
    }
    if (path.endsWith(".toml")) cutToml(text, isPlace, cut);
    else if (/\.(?:json|ya?ml|pages)$/i.test(path)) {
      if (path.endsWith(".json")) JSON.parse(text);
      cutYaml(text, isPlace, cut, isWhole);
    } else cutScript(/\.[cm]?tsx?$/.test(path) ? stripTypeScriptTypes(text) : text, isPlace, cut, isWhole);
  } catch {
    return void parts.rest(text);
  }
  let [rest, from] = ["", 0];
  for (const one of cuts.sort((a, b) => a.from - b.from)) {
    rest += `${text.slice(from, one.from)}∅`;
    from = one.to;
  }
  // An added or removed entry leaves no trace but its place.
  parts.rest(
    (rest + text.slice(from))
      .replaceAll(/\s*∅[\s,]*/g, "∅")
      .replaceAll(/∅+/g, "∅")
      .replaceAll(/,?∅(?=[\]}])/g, "∅")
      .trim(),
  );
}

function readString(parts: Parts, value: string, at: number): void {
  if (/[<{}\\`\t\r\n]|&#?\w+;/.test(value)) parts.form(value, at);
  if (/^[a-z][a-z0-9+.-]*:[^\s:]|^[/\\]{2}/i.test(value) && !/^:?[\w-]+:[\w*-]+$/.test(value))
    parts.address(value, at, { loads: true });
  else parts.value(value, at);
}

type IsPlace = (place: string) => boolean;
type CutOut = (place: string, from: number, to: number, strings: readonly string[]) => void;

const joined = (place: string, key: string) => (place === "" ? key : `${place}.${key}`);

function cutYaml(text: string, isPlace: IsPlace, cut: CutOut, isWhole: boolean): void {
  const document = parseDocument(text, { logLevel: "silent" });
  if (document.errors.length > 0) throw document.errors[0];
  const root = document.contents;
  if (isWhole) {
    const strings = root ? plainStrings(root) : [];
    if (strings === null) throw new Error("not plain data");
    return void cut("", 0, text.length, strings);
  }
  const visit = (node: unknown, place: string): void => {
    if (isSeq(node)) for (const item of node.items) visit(item, place);
    if (!isMap(node)) return;
    for (const pair of node.items) {
      const [key, value] = [pair.key, pair.value as YamlNode | null];
      if (!isScalar(key)) continue;
      const inner = joined(place, String(key.value));
      const strings = isPlace(inner) && value ? plainStrings(value) : null;
      if (strings !== null && key.range && value?.range) cut(inner, key.range[0], value.range[2], strings);
      else visit(value, inner);
    }
  };
  visit(root, "");
}

/** All strings of plain data; null if it has tags, anchors, merges, escapes or blocks. */
function plainStrings(node: unknown): readonly string[] | null {
  if (node === null) return [];
  if (isAlias(node)) return null;
  if (isScalar(node)) {
    if (
      node.tag ||
      node.anchor ||
      !/^(?:PLAIN|QUOTE_)/.test(node.type ?? "") ||
      node.value === "<<" ||
      node.value === "="
    )
      return null;
    return node.type === "QUOTE_DOUBLE" && node.source?.includes("\\") ? null : [String(node.value)];
  }
  if (isPair(node)) return together([node.key, node.value]);
  if (!isSeq(node) && !isMap(node)) return null;
  return node.tag || node.anchor ? null : together(node.items);
}

function together(nodes: readonly unknown[]): readonly string[] | null {
  const all: string[] = [];
  for (const node of nodes) {
    const strings = plainStrings(node);
    if (strings === null) return null;
    all.push(...strings);
  }
  return all;
}

/** Tables of TOML, from header to header, whose lines are plain. */
function cutToml(text: string, isPlace: IsPlace, cut: CutOut): void {
  parseToml(text);
  if (/"""|'''/.test(text)) return;
  const headers = [...text.matchAll(/^[ \t]*\[\[?([\w.-]+)\]\]?[ \t]*$/gm)];
  for (const [index, { 1: place = "", index: from }] of headers.entries()) {
    const to = headers[index + 1]?.index ?? text.length;
    const lines = text.slice(from, to).split("\n").slice(1);
    const isPlain = lines.every((line) =>
      /^[ \t]*(?:#.*|[\w-]+[ \t]*=[ \t]*(?:"[^"\\]*"|'[^']*'|[\w.-]+|\[[^\][\\]*\]|\{[^{}\\]*\})[ \t]*)?\r?$/.test(
        line,
      ),
    );
    const strings = lines.flatMap((line) => [...line.matchAll(/["']([^"']*)["']/g)].map(([, one = ""]) => one));
    if (isPlace(place) && isPlain) cut(place, from, to, strings);
  }
}

interface ScriptNode {
  type: string;
  start: number;
  end: number;
  [field: string]: unknown;
}

function isNode(value: unknown): value is ScriptNode {
  return typeof value === "object" && value !== null && typeof (value as ScriptNode).type === "string";
}
const nodesIn = (value: unknown): readonly ScriptNode[] => [value].flat().filter(isNode);

function cutScript(source: string, isPlace: IsPlace, cut: CutOut, isWhole: boolean): void {
  const visit = (node: ScriptNode, place: string): void => {
    const isData = node.type === "ArrayExpression" || node.type === "ObjectExpression";
    const isEntries = entries(node);
    const strings =
      isData && (isWhole || isEntries || (place !== "" && isPlace(place))) ? scriptStrings(node, source) : null;
    if (strings !== null) return void cut(isEntries ? entriesPlace : place, node.start, node.end, strings);
    if (node.type === "Property" || node.type === "VariableDeclarator") {
      const name = nodesIn(node.key ?? node.id).map((key) => String(key.name ?? key.value))[0] ?? "";
      const inner = node.computed ? place : joined(node.type === "Property" ? place : "", name);
      const [value] = nodesIn(node.value ?? node.init);
      if (!value) return;
      const data =
        node.type === "Property" && !node.method && !node.computed && isPlace(inner)
          ? scriptStrings(value, source)
          : null;
      // With its key, so that one can be added.
      return void (data !== null && !isWhole ? cut(inner, node.start, node.end, data) : visit(value, inner));
    }
    for (const [field, value] of Object.entries(node)) {
      if (field !== "comments") for (const child of nodesIn(value)) visit(child, place);
    }
  };
  visit(parseScript(source, { ecmaVersion: "latest", sourceType: "module" }) as unknown as ScriptNode, "");
}

/** Whether this is a list of entries of VitePress's navigation, wherever it stands. */
function entries({ type, elements }: ScriptNode): boolean {
  const isEntry = ({ type, properties }: ScriptNode) => {
    const names = nodesIn(properties).flatMap(({ key }) =>
      nodesIn(key).map(({ name, value }) => String(name ?? value)),
    );
    return type === "ObjectExpression" && names.includes("text") && names.every((name) => entryKeys.test(name));
  };
  const all = nodesIn(elements);
  return type === "ArrayExpression" && all.length > 0 && all.every(isEntry);
}
const entryKeys = /^(?:text|link|items|collapsed|activeMatch|base|target|rel)$/;
/** A place that every framework with such entries has. */
const entriesPlace = "themeConfig.nav";

/** All strings of literals, lists and objects; null if anything runs or is escaped. */
function scriptStrings(node: ScriptNode, source: string): readonly string[] | null {
  const all: string[] = [];
  const read = (one: ScriptNode | null): boolean => {
    if (one === null) return false;
    const { type, value, kind, computed, method, shorthand, regex, operator } = one;
    if (type === "Literal" || type === "TemplateElement") {
      const raw = source.slice(one.start, one.end);
      if (regex || raw.includes("\\") || typeof value === "bigint") return false;
      all.push(type === "Literal" ? String(value) : raw);
      return true;
    }
    if (type === "UnaryExpression")
      return operator === "-" && nodesIn(one.argument).every((inner) => typeof inner.value === "number");
    if (type === "TemplateLiteral") return nodesIn(one.expressions).length === 0 && nodesIn(one.quasis).every(read);
    if (type === "ArrayExpression") return (one.elements as (ScriptNode | null)[]).every(read);
    if (type === "ObjectExpression") return nodesIn(one.properties).every(read);
    if (type !== "Property" || kind !== "init" || computed || method || shorthand) return false;
    const [key] = nodesIn(one.key);
    const name = String(key?.name ?? key?.value);
    if (name === "__proto__" || source.slice(key?.start, key?.end).includes("\\")) return false;
    all.push(name);
    return nodesIn(one.value).every(read);
  };
  return read(node) ? all : null;
}
