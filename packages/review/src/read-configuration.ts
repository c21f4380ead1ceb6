import { parse as parseToml } from "smol-toml";
import { forbidden } from "./forbidden.ts";
import type { Parts } from "./parts.ts";
import { parseYaml } from "./read-yaml.ts";

/** Where each framework's data keeps navigation and redirects: keys from the outside in, lists left out. */
const places: ReadonlyArray<readonly [file: RegExp, place: RegExp]> = [
  [
    /(?:docs|mint)\.json$/,
    /^(?:navigation|redirects|tabs|anchors|topbarLinks|topbarCtaButton|navbar\.links|footer\.links|footerSocials)$/,
  ],
  [/(?:vercel\.json|\.gitbook\.ya?ml|netlify\.toml)$/, /^redirects$/],
  [/mkdocs\.ya?ml$/, /^nav$|^plugins\.(?:redirects\.redirect_maps|llmstxt\.sections)$/],
  [/_config\.ya?ml$/, /^(?:nav|navigation|menu|sidebar|header_pages)$/],
  [/(?:hugo|config)\.(?:ya?ml|json|toml)$/, /^(?:languages\.[\w-]+\.)?menus?$/],
];
/** Keys of an entry of navigation. In a program these, with a literal, are data wherever they stand. */
const entry =
  /(?<![\w$.'"])(?:text|link|items|collapsed|activeMatch|label|slug|to|docId|sidebarId|directory|dirName)\s*:\s*/;
/** Keys of an entry that choose what is drawn, or run. */
const running = /^(?:components?|props|attrs|html|innerHTML|render\w*|templates?|scripts?|on[A-Z]\w*|dangerously\w*)$/;
const literal = /"[^"\\\n]*"|'[^'\\\n]*'|\b(?:true|false|null)\b|(?<![\w$])\d+/;

/**
 * Splits a configuration into its navigation, whose strings become parts, and the rest, which must stay the same.
 * What cannot be read as plain data stays in the rest.
 */
export function readConfiguration(
  parts: Parts,
  text: string,
  { path, isWhole }: { path: string; isWhole: boolean },
): void {
  const at = (one: string) => Math.max(0, text.indexOf(one));
  // Jekyll runs these in comments too, if the file begins with front matter.
  if (isWhole) for (const { 0: tag, index } of text.matchAll(/\{[{%][^\n]*/g)) refuse(parts, tag, index);
  if (path.endsWith("_redirects")) {
    for (const { 0: one, index } of text.matchAll(/\S+/g)) readString(parts, one, index);
    for (const { 0: line, index } of text.matchAll(/[^\n]+/g)) if (isProxy(line)) refuse(parts, line.trim(), index);
    return;
  }
  if (!/\.(?:json|ya?ml|toml|pages)$/i.test(path)) return void parts.rest(readProgram(parts, text, isWhole));
  const place = places.find(([file]) => file.test(path))?.[1];
  const readAll = (value: unknown): void => {
    if (value === null || typeof value !== "object") return void readString(parts, String(value), at(String(value)));
    if (!Array.isArray(value) && isProxy(JSON.stringify(value)) && path.endsWith(".toml"))
      refuse(parts, JSON.stringify(value), 0);
    for (const [key, one] of Object.entries(value)) {
      if (!Array.isArray(value)) readString(parts, key, at(key));
      if (running.test(key)) refuse(parts, `${key}:`, at(key));
      readAll(one);
    }
  };
  const restOf = (value: unknown, above: string): unknown => {
    if (value === null || typeof value !== "object") return value;
    if (Array.isArray(value)) return value.map((one) => restOf(one, above));
    const rest = Object.entries(value).map(([key, one]) => {
      const name = above === "" ? key : `${above}.${key}`;
      if (!place?.test(name)) return [key, restOf(one, name)];
      readAll(one);
      return [key, undefined];
    });
    return Object.fromEntries(rest);
  };
  try {
    const data = path.endsWith(".toml")
      ? parseToml(text)
      : path.endsWith(".json")
        ? JSON.parse(text)
        : parseYaml(text).toJS();
    // Data has no tags, anchors and merges.
    const marks = path.endsWith(".json")
      ? []
      : (text.match(/(?<=^|[\s:[,{-])(?:[!&*][\w!][^\s,\]}]*|<<(?=\s*:))/gm) ?? []);
    if (isWhole && marks.length === 0) readAll(data);
    parts.rest([isWhole ? "" : JSON.stringify(restOf(data, ""), null, 1), ...marks].join("\n").trim());
  } catch {
    parts.rest(text);
  }
}

/** A program without the literals of its navigation, and without the brackets and lines that only hold them. */
function readProgram(parts: Parts, text: string, isWhole: boolean): string {
  // Between brackets of a call a string may be what runs.
  const isData = isWhole && !/[(`]|=>/.test(text.replaceAll(/^[ \t]*(?:\/\*[\s\S]*?\*\/|\/\/[^\n]*)/gm, ""));
  const key = isData ? /(?:[\w$-]+|"[^"\\\n]*"|'[^'\\\n]*')\s*:\s*/ : entry;
  const item = isData ? `|(?<=[[,]\\s*)(?:${literal.source})(?=\\s*[\\],])` : "";
  const data = new RegExp(`(${key.source})(?:(${literal.source})(?=\\s*(?:[,}\\]]|//|$))|(?=[[{]))${item}`, "gm");
  return text
    .replaceAll(data, (whole, name: string | undefined, value: string | undefined, at: number) => {
      const words = (name ?? "").replace(/\s*:\s*$/, "").replaceAll(/^["']|["']$/g, "");
      if (running.test(words)) refuse(parts, whole, at);
      if (isData) readString(parts, words, at);
      readString(parts, (value ?? (name === undefined ? whole : "")).replaceAll(/^["']|["']$/g, ""), at);
      return "";
    })
    .replaceAll(/[,[\]{}]+/g, " ")
    .split("\n")
    .map((line) => line.trim().replaceAll(/ +/g, " "))
    .filter((line) => line !== "")
    .join("\n");
}

/** What is more than words in navigation is no navigation. */
function refuse(parts: Parts, text: string, at: number): void {
  parts.refuse("attribute", text, at, "This is more than a plain value.", forbidden.configuration);
}

/** A redirect that shows another site's pages as this site's own. */
function isProxy(redirect: string): boolean {
  return /\b(?:https?:)?\/\//i.test(redirect) && /(?:\s|status"?\s*[=:]\s*["']?)2\d\d\b/.test(redirect);
}

function readString(parts: Parts, value: string, at: number): void {
  if (/[<{}\\`"\t\r\n]|&#?\w+;|(?:^|\/)\.\.(?:\/|$)/.test(value)) refuse(parts, value, at);
  // A page of MkDocs is named from its folder: what begins with a slash is a file of the machine.
  if (/^\/.*\.md$/i.test(value)) refuse(parts, value, at);
  if (/^[a-z][a-z0-9+.-]*:[^\s:]|^[/\\]{2}/i.test(value) && !/^:?[\w-]+:[\w*-]+$/.test(value))
    parts.address(value, at, { loads: true });
  else parts.hosts(value, at, true);
}
