import { tsPlugin } from "@sveltejs/acorn-typescript";
import { type AnyNode, Parser, parseExpressionAt } from "acorn";
import { parse as parseToml } from "smol-toml";
import { isMap, isPair, isScalar, isSeq, parseDocument, type Node as YamlNode } from "yaml";
import { forbidden } from "./forbidden.ts";
import type { Parts } from "./parts.ts";

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
/** Its name is no part of a place: `const config = { themeConfig }; export default config`. */
const exportedVariable = /^(?:export default|module\.exports =) (\w+)(?:;|\s*$)/m;
/** An entry of VitePress's navigation, wherever it stands, and a place that every framework with such entries has. */
const entryKeys = /^(?:text|link|items|collapsed|activeMatch|base|target|rel)$/;
const entriesPlace = "themeConfig.nav";

/** Keys of an entry that choose what is drawn, or run. */
const runningEntry =
  /^(?:components?|props|attrs|html|innerHTML|render\w*|templates?|scripts?|on[A-Z]\w*|dangerously\w*)$/;

/** A value of any format, or a key with its value. Plain data has no tags, anchors, merges, escapes or code in it. */
interface Data {
  from: number;
  to: number;
  isPlain: boolean;
  key?: string;
  /** Of a string, a number, or a key. */
  text?: string;
  inner: readonly Data[];
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
  const exported = exportedVariable.exec(text)?.[1];
  const cuts: Data[] = [];
  const readStrings = (data: Data): void => {
    if (data.text !== undefined) readString(parts, data.text, data.from);
    if (data.key !== undefined && runningEntry.test(data.key)) refuse(parts, `${data.key}:`, data.from);
    for (const one of data.inner) readStrings(one);
  };
  /** A single string is not cut out: it may be an argument of code. */
  const walk = (data: Data, above: string): void => {
    const isWholeConfiguration = above === "" && exported !== undefined && data.key === exported;
    const keys = isWholeConfiguration ? [] : [above, data.key];
    const place = isEntry(data) ? entriesPlace : keys.filter(Boolean).join(".");
    const isKnown = isWhole || known?.test(place);
    const isCollection = data.key !== undefined || data.text === undefined;
    if (!(data.isPlain && isCollection && isKnown)) return void data.inner.forEach((one) => void walk(one, place));
    cuts.push(data);
    readStrings(data);
    const written = text.slice(data.from, data.to);
    if (path.endsWith(".toml") && isProxy(written)) refuse(parts, written, data.from);
  };

  // Jekyll runs these in comments too, if the file begins with front matter.
  for (const { 0: comment, index } of isWhole ? text.matchAll(/#[^\n]*/g) : [])
    if (/\{[{%]/.test(comment)) refuse(parts, comment, index);
  try {
    if (path.endsWith("_redirects")) {
      for (const { 0: one, index } of text.matchAll(/\S+/g)) readString(parts, one, index);
      for (const { 0: line, index } of text.matchAll(/[^\n]+/g)) if (isProxy(line)) refuse(parts, line.trim(), index);
      return;
    }
    walk(parse(text, path), "");
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

/** What is more than words in navigation is no navigation. */
function refuse(parts: Parts, text: string, at: number): void {
  parts.unknown("attribute", text, at, "This is more than a plain value.", { instead: forbidden.configuration });
}

/** A redirect that shows another site's pages as this site's own. */
function isProxy(redirect: string): boolean {
  return /\b(?:https?:)?\/\//i.test(redirect) && /(?:\s|status\s*=\s*["']?)2\d\d\b/.test(redirect);
}

function isEntry({ key, inner }: Data): boolean {
  const keys = inner.map((one) => one.key ?? "");
  return key === undefined && keys.includes("text") && keys.every((one) => entryKeys.test(one));
}

function readString(parts: Parts, value: string, at: number): void {
  if (/[<{}\\`"\t\r\n]|&#?\w+;|(?:^|\/)\.\.(?:\/|$)/.test(value)) refuse(parts, value, at);
  // A page of MkDocs is named from its folder: what begins with a slash is a file of the machine.
  if (/^\/.*\.md$/i.test(value)) refuse(parts, value, at);
  if (/^[a-z][a-z0-9+.-]*:[^\s:]|^[/\\]{2}/i.test(value) && !/^:?[\w-]+:[\w*-]+$/.test(value))
    parts.address(value, at, { loads: true });
  else parts.hosts(value, at, true);
}

/** Not Node's own `stripTypeScriptTypes`: text that is nested deeply leaves it broken for the rest of the process. */
const typeScript = Parser.extend(tsPlugin());

function parse(text: string, path: string): Data {
  const whole = { from: 0, to: text.length };
  if (path.endsWith(".toml")) return { ...whole, isPlain: false, inner: tomlTables(text) };
  if (!/\.(?:json|ya?ml|pages)$/i.test(path)) {
    const parser = /\.[cm]?tsx?$/.test(path) ? typeScript : Parser;
    return fromScript(parser.parse(text, { ecmaVersion: "latest", sourceType: "module", locations: true }), text);
  }
  if (path.endsWith(".json")) {
    JSON.parse(text);
    return { ...fromScript(parseExpressionAt(text, 0, { ecmaVersion: "latest" }), text), ...whole };
  }
  const { errors, contents } = parseDocument(text, { logLevel: "silent" });
  if (errors.length > 0) throw errors[0];
  return { ...fromYaml(contents), ...whole };
}

function fromYaml(node: unknown): Data {
  const [from, , to] = (node as YamlNode | null)?.range ?? [0, 0, 0];
  if (isPair(node)) {
    const [key, value] = [fromYaml(node.key), fromYaml(node.value)];
    const isPlain = key.isPlain && value.isPlain && value.to > 0;
    return { from: key.from, to: value.to, isPlain, key: key.text ?? "", text: key.text ?? "", inner: [value] };
  }
  const isTagged = isScalar(node) || isSeq(node) || isMap(node) ? Boolean(node.tag || node.anchor) : node !== null;
  if (isScalar(node)) {
    const isEscaped = node.type === "QUOTE_DOUBLE" && node.source?.includes("\\");
    const isData = /^(?:PLAIN|QUOTE_)/.test(node.type ?? "") && !/^(?:<<|=)$/.test(String(node.value));
    return { from, to, isPlain: isData && !isEscaped && !isTagged, text: String(node.value), inner: [] };
  }
  const inner = isSeq(node) || isMap(node) ? (node.items as unknown[]).map(fromYaml) : [];
  return { from, to, isPlain: !isTagged && inner.every((one) => one.isPlain), inner };
}

/** Tables of TOML, from header to header, whose lines are plain. */
function tomlTables(text: string): readonly Data[] {
  parseToml(text);
  if (/"""|'''/.test(text)) return [];
  const headers = [...text.matchAll(/^[ \t]*\[\[?([\w.-]+)\]\]?[ \t]*$/gm)];
  return headers.map(({ 0: header, 1: key = "", index: from }, index) => {
    const to = headers[index + 1]?.index ?? text.length;
    const lines = text.slice(from + header.length, to);
    const isPlain = lines.split("\n").every((line) => plainTomlLine.test(line));
    const strings = [
      ...lines.replaceAll(/^[ \t]*#.*/gm, (one) => " ".repeat(one.length)).matchAll(/"([^"]*)"|'([^']*)'/g),
    ];
    const inner = strings.map(({ 1: one, 2: other = "", index: at }) => leaf(from + header.length + at, one ?? other));
    return { from, to, isPlain, key, inner };
  });
}
const plainTomlLine =
  /^[ \t]*(?:#.*|[\w-]+[ \t]*=[ \t]*(?:"[^"\\]*"|'[^']*'|[\w.-]+|\[[^\][\\]*\]|\{[^{}\\]*\})[ \t]*)?\r?$/;

const leaf = (from: number, text: string): Data => ({ from, to: from + text.length, isPlain: true, text, inner: [] });

/** Besides literals, lists and objects of JavaScript, what runs: it is no data, but may have data inside. */
function fromScript(node: AnyNode, source: string): Data {
  const { start: from, end: to } = node;
  const raw = source.slice(from, to);
  const { value, regex, key, id, init, computed, method, shorthand, kind, elements, expressions } = node as Fields;
  if (node.type === "Literal" || (node.type === "TemplateLiteral" && nodesIn(expressions).length === 0)) {
    const isPlain = !raw.includes("\\") && !regex && typeof value !== "bigint";
    return { from, to, isPlain, text: node.type === "Literal" ? String(value) : raw.slice(1, -1), inner: [] };
  }
  if (node.type === "UnaryExpression" && /^-[\d.]+$/.test(raw)) return leaf(from, raw);
  const isPair = node.type === "Property" || node.type === "VariableDeclarator";
  const children = isPair ? nodesIn(value ?? init) : Object.values(node).flatMap(nodesIn);
  const inner = children.map((child) => fromScript(child, source));
  const [name] = nodesIn(key ?? id) as Fields[];
  const text = String(name?.name ?? name?.value);
  const isKey = !computed && !method && !shorthand && kind === "init" && text !== "__proto__";
  const isData =
    (node.type === "ArrayExpression" && !(elements as unknown[]).includes(null)) ||
    node.type === "ObjectExpression" ||
    (node.type === "Property" && isKey && !source.slice(name?.start, name?.end).includes("\\"));
  const isPlain = isData && inner.every((one) => one.isPlain);
  return { from, to, isPlain, inner, ...(isPair && !computed && { key: text, text }) };
}

type Fields = AnyNode & Record<string, unknown>;

function nodesIn(value: unknown): readonly AnyNode[] {
  return [value].flat().filter((one): one is AnyNode => typeof (one as AnyNode | null)?.type === "string");
}
