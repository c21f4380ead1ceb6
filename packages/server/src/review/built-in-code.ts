import type { Added } from "./added-lines.ts";

type File = Added["files"][number];

const codeFiles = /\.(?:[cm]?[jt]sx?|vue|svelte|astro)$/i;
const markup = /\.(?:html?|xhtml|svg|xml)$/i;
const asciidoc = /\.(?:adoc|asciidoc|asc)$/i;
/** A site's settings and navigation, which pages are entered in. */
const settings =
  /(?:^|\/)(?:[\w-]*sidebars?[\w.-]*|(?:docusaurus|astro|next|nextra|theme|gatsby|rspress|vuepress|source)\.config|_meta|\.(?:vitepress|vuepress)\/(?:[\w-]+\/)*[\w.-]+)\.[cm]?[jt]sx?$/i;
/** By which code makes an address, calls another site, or changes where a page leads. */
const making =
  /["'`][^"'`\n]*(?:\/\/|:\/?)["'`]\s*\+|\+\s*["'`][/.]|\+=\s*["'`]|\$\{|\.\s*(?:join|concat|replace|replaceAll|reverse|at|split|hostname|host|href|src|innerHTML|outerHTML)\b|fromCharCode|fromCodePoint|\batob\b|decodeURI|\beval\b|\bFunction\b|new\s+(?:URL|Image|WebSocket|EventSource|Worker)\b|\bfetch\b|\bimport\s*\(|\b(?:document|window|location|navigator|globalThis|Reflect|XMLHttpRequest)\b|JSON\.parse|Object\.(?:assign|define)|\bget\s+\w+\s*\(/;
/** Markup that runs code, or says what its own names stand for. */
const running =
  /<(?:[\w-]{1,50}:)?script\b[\s\S]*?(?:<\/(?:[\w-]{1,50}:)?script|$)|[\s"'/]on[a-z]{3,}\s*=\s*(?:"[^"]*"|'[^']*'|[^\s>]*)|javascript\s*:[^\s"'>]*|<!ENTITY[^>]*/gi;
const attributeInSite = /(?:https?|ftp|wss?):\/*[^\s/?#[{]{0,1000}\{[\w-]+\}[^\s[]*/gi;

/** What of a file that is no page runs in a reader's browser or its site's build, and may lead anywhere. */
export function builtInFile({ path, text }: File): readonly string[] {
  if (codeFiles.test(path)) {
    const lines = text.split("\n").map((line) => line.trim());
    return lines.filter((line) => (settings.test(path) ? making.test(line) : /\w/.test(line)));
  }
  if (markup.test(path)) return text.match(running) ?? [];
  return asciidoc.test(path) ? (text.match(attributeInSite) ?? []) : [];
}

/** Scripts and handlers of a page in Markdown; a component's own script may import and declare. */
export function runInPage(page: string): readonly string[] {
  return (page.match(running) ?? []).filter((words) => !/^<script\b[^>]*\bsetup\b/i.test(words) || making.test(words));
}
