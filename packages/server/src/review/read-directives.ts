import type { Notes, Syntax } from "./page-reading.ts";
import { readTemplateExpression } from "./read-attribute.ts";

/** How builders take another file's text into a page: Markdown's snippets, VitePress, mdBook, FastAPI, Sphinx, AsciiDoc, templates. */
const includes: readonly RegExp[] = [
  /--8<--[ \t]+["']([^"'\n]+)["']/g,
  /\{!\s*([^\s!]+)\s*!\}/g,
  /\{\*\s+(\S+)[^*\n]*\*\}/g,
  /<!--\s*@include:\s*([^\s{}>]+)/g,
  /^<<<\s*(\S+)/gm,
  /\{\{\s*#(?:rustdoc_)?(?:include|playground)\s+([^\s:}]+)/g,
  /^\s*(?:\.\.\s+|[`~:]{3,}\{)(?:include|literalinclude|mdinclude|csv-table|raw)(?:::|\})[ \t]*([^\s<]\S*)/gm,
  /^\s*:(?:file|url|start-after-file):\s*(\S+)/gm,
  /(?:^|\s)include::([^\s[\]]+)\[/gm,
  /\{%-?\s*(?:include|include_relative|include-markdown|include_file|import|from|extends)\s+["']?([\w@./-]+)/g,
  /^\s*[`~]{3,}[^\n`]*\s(?:file|src)=["']?([^\s"']+)/gm,
];
const includeBlock = /^[ \t]*--8<--[ \t]*\n([\s\S]*?)^[ \t]*--8<--[ \t]*$/gm;

/** Directives of Sphinx, docutils and MyST that only set text. Others may import, run or fetch. */
const settled = new Set(
  `admonition attention caution danger error hint important note tip warning seealso todo versionadded versionchanged
  versionremoved deprecated deprecated-removed figure image table list-table csv-table code code-block sourcecode
  parsed-literal literalinclude include highlight toctree contents math glossary rubric topic sidebar epigraph highlights
  pull-quote container compound only centered hlist index productionlist tabularcolumns line-block class meta sectnum
  header footer target-notes footnotes replace unicode date tab tabs group-tab code-tab tab-set tab-item tab-set-code grid
  grid-item grid-item-card card card-carousel dropdown button-link button-ref div aside margin figure-md mermaid graphviz
  digraph inheritance-diagram function class method attribute data exception module currentmodule decorator property
  option program envvar describe object confval cmdoption default-domain acks bibliography`.split(/\s+/),
);
const directive =
  /^[ \t]*(?:\.\.[ \t]+(?:\|[^|\n]+\|[ \t]+)?([\w:.-]+)::|(?:`{3,}|~{3,}|:{3,})\{([\w:.-]+)\})([^\n]*)/gm;

/** What builders make of a page's text before or beside its Markdown. `text`: without samples of code. */
export function readDirectives(notes: Notes, text: string, whole: string, syntax: Syntax): void {
  for (const pattern of includes) {
    for (const match of whole.matchAll(pattern)) notes.include(match[1] ?? "", match.index);
  }
  for (const { 1: list = "", index } of whole.matchAll(includeBlock)) {
    for (const target of list.split("\n")) if (target.trim() !== "") notes.include(target.trim(), index);
  }
  for (const { 0: line, 1: rst, 2: myst, index } of whole.matchAll(directive)) {
    const name = (rst ?? myst ?? "").replace(/^(?:py|c|cpp|js|rst|std|math):.*$/, "function");
    if (rst !== undefined && syntax === "markdown" && !/^[ \t]*\.\./.test(line)) continue;
    if (!settled.has(name)) notes.code(`${name}::`, `the directive ${name}`, index);
  }
  if (syntax === "asciidoc") readAsciidoc(notes, text);
  if (syntax !== "mdx") readTemplates(notes, text);
}

const tag = /\{\{([<%]?)([\s\S]{0,2000}?)[>%]?\}\}|\{%-?([\s\S]{0,2000}?)-?%\}|<%([\s\S]{0,2000}?)%>/g;
/** Where an address has begun and not ended before a tag. */
const addressBefore = /(?:\]\(\s*<?|\]:[ \t]*<?|[a-z][a-z0-9+.-]*:\/\/|\bwww\.|(?:^|[\s"'=(])\/\/)[^\s)"'<>]*$/i;

function readTemplates(notes: Notes, text: string): void {
  for (const match of text.matchAll(tag)) {
    const { 0: whole, 1: shortcode, 2: output, 3: statement, index } = match;
    const before = text.slice(Math.max(0, index - 300), index);
    if (addressBefore.test(before)) {
      notes.code(`${addressBefore.exec(before)?.[0] ?? ""}${whole}`, "a template tag inside an address", index);
    } else if (output !== undefined && shortcode === "" && !/^\s*[#/!>^]/.test(output)) {
      readTemplateExpression(notes, output, index);
    } else if (output === undefined && (statement === undefined || isRunning(statement))) {
      notes.code(whole, "a template tag that runs", index);
    } else notes.value(whole.replaceAll(/[{}%<>]+/g, " "), index);
  }
}

/** A block tag calls something, or reaches into what a name must not. */
function isRunning(statement: string): boolean {
  if (/^\s*(?:import|from|extends|macro|call|do|eval|exec)\b/.test(statement)) return true;
  const bare = statement.replaceAll(/"[^"]*"|'[^']*'/g, '""');
  return /\(|\b_|_\b|\bimport\b/.test(bare.replaceAll(/^\s*(?:end)?[\w-]+/g, ""));
}

/** Attributes stand for any text; passthroughs are HTML as it is. */
function readAsciidoc(notes: Notes, text: string): void {
  for (const match of text.matchAll(
    /(?:https?|ftp|irc|mailto|link|image|video|audio|include|xref):+[^\s[\]]*\{[\w-]+\}[^\s[\]]*/gi,
  )) {
    notes.code(match[0], "an attribute inside an address", match.index);
  }
  for (const match of text.matchAll(
    /^\+{4,}$|\+{2,3}[^+\n]*<[^+\n]*\+{2,3}|\bpass:\w*\[[^\]\n]*\]|^\[(?:subs|stem|pass)\b[^\n]*/gm,
  )) {
    notes.code(match[0], "a passthrough", match.index);
  }
}
