import {
  asciidocAttributes,
  asciidocBlocks,
  asciidocCharacters,
  asciidocMacros,
  blockMarkers,
  directiveOptions,
  directives,
  hidingClass,
  roles,
} from "./content-table.ts";
import type { Parts } from "./page-parts.ts";

/** Mathematics that links, loads or defines. */
export const activeTex =
  /\\(?:href|url|html\w*|require|cssId|class|style|include\w*|input|unicode|mmlToken|bbox)\s*(?:[{[]|$)|\\(?:[gex]?def|let|(?:re)?new(?:command|environment))\b/m;
/** Words or a name, and behind words a name in angle brackets. */
const plainRole = /^`[\p{L}\p{N}_@#][\p{L}\p{N} >,./_@#-]*(?:<[\w@#][\w./@#-]*>)?`$/u;
/** Docutils links these wherever they stand. */
const standaloneScheme = /(?<![\w:-])(?:data|file|blob|filesystem|view-source):[^\s:`]/i;
/** Docutils finds literals only between these. */
const literal = /(?<![^\s(/-])``(?![\s"')\]}>])[^`\n]*[^`\s]``(?![^\s)\]}>'".,:;!?/-])/g;

/** reStructuredText: every line is live. Active are explicit markup (`..`), fields, roles and link targets. */
export function readRst(parts: Parts, text: string): void {
  const lines = [...text.matchAll(/[^\n]*\n?/g)];
  for (const [index, { 0: line, index: at }] of lines.entries()) {
    const bare = line.trim();
    const next = lines[index + 1]?.[0] ?? "";
    // The value of an option or a directive goes on in the lines below, and is joined without blanks.
    const isWhole = !/^[ \t]+(?!:[\w-]+:\s)\S/.test(next);
    // Markup can also begin behind list markers, in cells, and behind a directive's own name.
    const starts = [...line.matchAll(/(?<![^\s|*+-])(?:\.\.|__)(?=\s|$)/g)];
    const isFirst = starts.length === 1 && /^\s*(?:\.\.|__)(?: |\r?\n|$)/.test(line);
    if (isFirst) readExplicit(bare.replace(/^__/, "_:").replace(/^\.\./, "").trim(), bare, index, isWhole);
    else if (starts.length > 0) parts.form(bare, at);
    if (activeTex.test(line) || standaloneScheme.test(line.replaceAll(literal, ""))) parts.form(bare, at);
    if (/^:[\w.-]+:(?:\s|$)/.test(bare) && !directiveOptions.test(bare)) {
      if (isWhole && /^:target:\s+\S+$/.test(bare)) parts.address(bare.split(/\s+/)[1] ?? "", at);
      else if (!/^:(?:param|type|returns?|rtype|raises?|arg|keyword|ivar|var|vartype|meta|orphan)\b/.test(bare))
        parts.form(bare, at);
    }
    for (const { 0: whole, 1: role = "", index: offset } of line.matchAll(/:([^\s`]{1,60}):`/g))
      if (!roles.has(role)) {
        // Plain words may differ from those of another page.
        const form = wordsFrom(line, offset, whole.length);
        const isPlain = plainRole.test(form.slice(whole.length - 1)) && !form.includes("..");
        parts.form(isPlain ? `${whole}…` : form, at + offset, isPlain ? whole : form);
      }
    // A role can also stand behind its text.
    for (const { 1: role = "", index: offset } of line.matchAll(/`:([^\s`]{1,60}):(?!`)/g))
      if (!roles.has(role)) parts.form(bare, at + offset);
  }
  const live = text.replaceAll(literal, (code) => " ".repeat(code.length));
  for (const { 1: target = "", 2: mark, index } of live.matchAll(/<([^<>]*)>(`|[ \t]*$)/gm)) {
    // A role's target is a name; a link's is an address. Without the mark, only a table of contents has links.
    if (/^[\w.~!/-]+$/.test(target) || (mark !== "`" && !/^\s*(?:[\w\\+.-]+:|[/\\]{2})/.test(target))) continue;
    if (/\s|\\/.test(target)) parts.form(`<${target}>`, index);
    else parts.address(target.replace(/_$/, ""), index);
  }
  // An escape hides where an address begins or ends.
  for (const { 0: phrase, index } of live.matchAll(/`[^`<]*<[^`]*`/g))
    if (phrase.includes("\\")) parts.form(phrase, index);
  parts.value(live, 0, { loads: false });
  for (const [code] of text.matchAll(literal)) parts.sample(code, 0);

  function readExplicit(markup: string, line: string, index: number, isWhole: boolean): void {
    const at = lines[index]?.index ?? 0;
    const [, name = "", value = ""] = /^([\w:.+-]+)::(?:\s+(.*))?$/.exec(markup) ?? [];
    const [isTarget, target] = /^_(?:[\w .-]*(?::[\w.-]+)*|`[^`<>\\]+`):(?:\s+(\S+))?$/.exec(markup) ?? [];
    const isNote = /^\[(?:#[\w-]*|\d+|\*|[\w-]+)\](?:\s|$)/.test(markup);
    const isReplacement = /^\|[^|<>\\]+\|\s+replace::\s/.test(markup);
    const [, picture] = /^\|[^|<>\\]+\|\s+image::\s+(\S+)$/.exec(markup) ?? [];
    const isRemark = /^(?![_[])(?:(?!::)[^|<>`\\])+$/.test(markup) || (markup === "" && isWhole);
    if (isTarget) {
      const [below = ""] = blockBelow(lines, index).join("\n").split(/^$/m, 1);
      const url = `${target ?? ""}${below}`.replaceAll(/\s/g, "");
      if (url !== "") parts.address(url.replace(/_$/, ""), at);
    } else if (picture !== undefined && isWhole) parts.address(picture, at, { loads: true });
    else if (/^(?:image|figure)$/.test(name) && value !== "" && isWhole) parts.address(value, at, { loads: true });
    else if (/^(?:include|literalinclude)$/.test(name) && isWhole && /^[\w./-]+$/.test(value)) parts.include(value, at);
    else if (!(isNote || isReplacement || isRemark || isPlainDirective(name, value)))
      // It is known only with all that belongs to it.
      parts.form([line, ...blockBelow(lines, index)].join("\n"), at, line);
  }
}

/** The indented lines that follow. Of more than are compared, the number is told too. */
function blockBelow(lines: readonly RegExpExecArray[], index: number): string[] {
  const block: string[] = [];
  for (const [line] of lines.slice(index + 1, index + 1 + linesCompared)) {
    if (/^\S/.test(line)) break;
    block.push(line.trimEnd());
  }
  if (block.length === linesCompared) block.push(`${lines.length}`);
  while (block.at(-1) === "") block.pop();
  return block;
}
const linesCompared = 200;

/** Whether a directive only formats, with this argument. */
export function isPlainDirective(name: string, value: string): boolean {
  if (/^(?:code|code-block|sourcecode|highlight|code-tab)$/.test(name)) return /^[\w+#. -]*$/.test(value);
  if (name === "only") return /^[\w ()]+$/.test(value);
  // A picture's address can also stand in the next line.
  return directives.has(name) && !/^(?:image|figure)$/.test(name) && (value === "" || !/^(?:toctree|math)$/.test(name));
}

/** MyST: directives that read their text as Markdown. */
export const directiveLine = /^(?::{3,})?\{([\w:-]+)\}[ \t]*(.*)$/;

/** Whether a line that begins with a marker only opens or closes a block. */
export function isPlainMarker(line: string): boolean {
  const [, directive, argument = ""] = directiveLine.exec(line.replace(/^(:{3,})[ \t]+(?=\{)/, "$1")) ?? [];
  if (directive) return isPlainDirective(directive, argument) && !/^(?:image|figure|toctree|math)$/.test(directive);
  return blockMarkers.some((marker) => marker.test(line));
}

function wordsFrom(line: string, offset: number, size: number): string {
  const close = line.indexOf("`", offset + size);
  return line.slice(offset, close === -1 ? undefined : close + 1).trimEnd();
}

/** A page, with the names of Antora in front of it, or a place. */
const plainReference = /^(?:(?:[\w.@$-]+:(?:[\w.@$-]*:)?)?(?!\/\/)[\w./$-]+(?:#[\w.-]*)?|#?[^\s:<>"{}\\&]*)$/;

/** Pages of Antora, by their names. */
const aliases = /^(?:,? *(?:[\w.@-]+:(?:[\w.@-]*:)?)?[\w./-]+)*$/;

/** References in the value are read like those of every line. */
function isPlainEntry(name: string, value: string): boolean {
  return (
    asciidocAttributes.test(name) &&
    /^(?![^\p{L}\p{N}]+(?:$|\/))(?:(?!\w:(?:\S|$))(?:[^<>{}\\+[\]"]|\{[\w-]+\}))*$/u.test(value)
  );
}

/** A picture of another module. No browser loads what it does not know by this scheme. */
const antoraImage =
  /^(?!(?:https?|wss?|ftp|file|data|blob|about|javascript|vbscript|filesystem|view-source):|.*\.\.)[\w-]+:(?:[\w.-]*:)?(?:image\$)?\w[\w/-]*\.(?:png|jpe?g|gif|svg|webp)$/i;

/** What the site's owner defined, or a placeholder. Not: what names the building machine, and what defines. */
const ownAttribute =
  /^(?!(?:doc(?:dir|file|filesuffix|name)|out(?:dir|file|filesuffix)|doctitle|title|subtitle|author\w*|email\w*|(?:first|middle|last)name\w*|rev(?:number|date|remark)|user-home|asciidoctor[\w-]*|safe-mode[\w-]*|env[\w-]*|base-?dir|lt|gt|amp|startsb|endsb|file\w*|(?:icons|images|styles|scripts)dir)$)\w[\w-]*$/i;

/** AsciiDoc: every line is live, those of listings too: includes work there, and where a listing ends depends on all before it. */
export function readAsciidoc(parts: Parts, text: string): void {
  const defined = new Set<string>();
  const entries = text.matchAll(/(?:^|[|!\s]):!?([\w-]+)!?:/gm);
  const entered = new Set([...entries].map(([, name = ""]) => name.toLowerCase()));
  for (const { 0: list, index } of text.matchAll(/\[[^[\]\n]*(?:\.|role\s*=)[^[\]\n]*\]/g))
    if (hidingClass.test(list)) parts.form(list, index);
  // Quotes end the attribute that a role or a reference becomes.
  for (const { 0: role, index } of text.matchAll(/\[[^[\]]*\](?=[#*_`^~+"']\S)/g))
    if (/["']/.test(role)) parts.form(role, index);
  for (const { 0: whole, 1: target = "", index } of text.matchAll(/<<([^<>]*)>>/g))
    if (/["']/.test(target.split(",")[0] ?? "")) parts.form(whole, index);
  // References to characters vanish from an address.
  parts.value(text.replaceAll(/\{[\w-]{1,60}\}/g, ""), 0, { loads: false });
  for (const { 0: line, index: at } of text.matchAll(/[^\n]+/g)) {
    const bare = line.trim();
    // What a page has is known only with the lines up to its end.
    const refuse = () => parts.form(blockAt(text, at, bare), at, bare);
    // A quote ends the attribute that a language becomes.
    if (/^```.*["']/.test(bare)) refuse();
    // Cells with other separators.
    if (/^[,:!;]={3,}$/.test(bare)) refuse();
    if (/\binclude\s*::|^\s*\\?(?:ifdef|ifndef|ifeval|endif)::/.test(line)) {
      const [, target] =
        /^include::([\w./$@:-]+)\[(?:tags?=(?:[\w.;*!-]*|"[\w.;*!-]*")|leveloffset=\+?\d)?\]$/.exec(bare) ?? [];
      const isPlain = target !== undefined && line === bare && !/^\w+:\/\//.test(target);
      // Antora finds these inside of its component only.
      if (!isPlain) refuse();
      else if (!/^(?:[\w.@-]+:){0,2}(?:partial|example|page)\$[\w-][\w./-]*$/.test(target) || target.includes(".."))
        parts.include(target, at);
    }
    // A macro can also begin inside a word, and its target may have blanks.
    if (
      /[^\s[(|*_"'`<>#!;-](?:link|mailto|xref|image|icon):[^:\s]|\b(?:link|mailto|xref|image|icon)::?[^[\]\n:]*"/.test(
        line,
      )
    )
      refuse();
    // A cell can be a document of its own.
    for (const cell of [bare, ...line.split(/[|!]/).map((one) => one.trim())]) {
      const [entry, name = "", value = ""] = /^:([^:]+):(?:\s+(.*))?$/.exec(cell) ?? [];
      if (/^ur[il]-[\w-]+$/.test(name) && /^\S+$/.test(value)) {
        parts.address(value, at);
        defined.add(name);
      } else if (
        entry &&
        !(name === "page-aliases" ? aliases.test(value) : isPlainEntry(name, value.replaceAll(inertQuote, "")))
      )
        refuse();
      if (/^\[.*\]$/.test(cell) && !asciidocBlocks.test(cell) && !/^\[\[[\w:.-]+(?:,[\w .-]+)?\]\]$/.test(cell))
        refuse();
    }
    // Targets of media may contain blanks.
    const others = line.replaceAll(beforeBracket, (whole, run: string) => {
      const [kept = ""] = run.split(/\b(?:image|icon)::?(?=.)/, 1);
      return kept === run ? whole : kept;
    });
    if (/\b(?:image|icon|video|audio)\s*::?/i.test(others.slice(0, Math.max(0, others.lastIndexOf("["))))) refuse();
    const table = line.indexOf("|===");
    const isDocument = table !== -1 && line.lastIndexOf("a") > table;
    if (/\+\+|\$\$|(?:pass|stem|math)\s*:[^\s[\]]*\[/i.test(line.replaceAll(inertQuote, ""))) refuse();
    // A cell that is a document. Its lines are read like all others.
    if (isDocument || /^\s*a[|!]|\bcols\s*=[^\]]*a/.test(line)) parts.form("a|", at);
    // An address that the page defines, as far as it goes.
    for (const { 0: whole, 1: name = "", index } of line.matchAll(
      /(?<!\\)\{([\p{L}\p{M}\p{N}_][\p{L}\p{M}\p{N}_-]*|(?:set|counter2?):[^{}\n]*)\}/gu,
    ))
      if (
        !(ownAttribute.test(name) && !entered.has(name.toLowerCase()) && isApart(line, index, whole)) &&
        !asciidocCharacters.has(name) &&
        !(defined.has(name) && /^\{[\w-]+\}(?:[[/\s#)]|$)/.test(line.slice(index)))
      )
        parts.form(whole, at + index);
    for (const { 1: target = "" } of line.matchAll(/<<([^<>,]+)(?:,[^<>]*)?>>/g))
      if (!plainReference.test(target.replaceAll(" ", ""))) refuse();
    for (const { name, colons, target, rest, whole, index } of macrosIn(
      line,
      text.slice(at + line.length, at + line.length + 2_000),
    )) {
      if (name === "include" || name === "pass") continue;
      const isAddress = /^(?:https?|ftp|irc|mailto)$/i.test(name);
      if (isAddress) parts.address(withoutReferences(`${name}:${target}`), at + index);
      else if (/^(?:tag|end)$/.test(name) && colons === "::" && /^[\w.-]+$/.test(target) && rest === "") continue;
      else if (!asciidocMacros.has(name) || (colons === "::" && name !== "image")) parts.form(whole, at + index);
      else if (name === "image" && antoraImage.test(target)) continue;
      else if (/^(?:link|image|mailto)$/.test(name))
        parts.address(withoutReferences(target), at + index, { loads: name === "image" });
      else if (name === "xref" ? !plainReference.test(target) : /[:<>"]/.test(target)) parts.form(whole, at + index);
      if (
        /\b(?:opts|options|subs|onclick|window)\s*=|javascript|</i.test(rest) &&
        !/^[^"=]*(?:,?\s*(?:window|opts)="?_?\w+"?)?\^?$/.test(rest)
      )
        parts.form(whole + rest, at + index);
      // Quotes and escapes hide the bracket at which it ends, or end the attribute that a value becomes.
      const unquoted = rest.replaceAll(/(?<=^|[,=]\s*)(?:"[^"]*"|'[^'"]*')(?=\s*(?:,|$))/g, "");
      const isList = /^(?:image|icon)$/.test(name) || rest.includes("=");
      if (/\\$|=\s*'[^']*$/.test(rest) || rest.split('"').length % 2 === 0 || (isList && unquoted.includes('"')))
        refuse();
      for (const [, linked = ""] of rest.matchAll(/\bx?link\s*=\s*(".*?"|'.*?'|[^,]*)/g))
        parts.address(linked.replaceAll(/^["']|["']$/g, ""), at + index);
    }
  }
  parts.value(text.replaceAll(/`[^`\n]+`/g, " "), 0, { loads: false });
  for (const [code] of text.matchAll(/`[^`\n]+`/g)) parts.sample(code, 0);
}

/** `C++` or `$$`, between blanks: two of them quote the words between them, which stay words. So do words that are passed. */
const inertQuote =
  /(?<![^\s(|])(?:\w+\+\+|\${2,})(?=[\s,;:!?)|]|\.?(?:\s|$))|(?<!\S)pass:[a-z,]*\[[^<>&"+${}\\[\]]*\]/g;

/** A passthrough with its text: up to its end, or the next blank line. */
function blockAt(text: string, at: number, line: string): string {
  if (!/^(?:\+{4,}|\[.*\])$/.test(line)) return line;
  const body = text.slice(at + line.length, at + line.length + 5_000);
  const end = line.startsWith("+") ? body.indexOf(`\n${line}`, 1) : body.search(/\n[ \t]*\n/);
  return line + (end === -1 ? body : body.slice(0, end));
}

/** The text before each bracket, up to a blank or another bracket. It begins in one place only, so that time stays linear. */
const beforeBracket = /(?<![^\s[\]])([^\s[\]]+)\[/g;

/** `after` is the text behind the line: a macro may end there. */
function* macrosIn(line: string, after: string) {
  let [ended, sharing] = [-1, 0];
  for (const { 0: opened, 1: run = "", index: start } of line.matchAll(beforeBracket)) {
    const macro = /(?<![a-z0-9/.])([a-z]\w*)(::?)([^:].*)?$/i.exec(run);
    if (!macro) continue;
    const { 1: name = "", 2: colons = "", 3: target = "", index } = macro;
    const from = start + opened.length;
    const close = line.indexOf("]", from);
    const end = close === -1 ? line.length : close;
    [ended, sharing] = [end, end === ended ? sharing + 1 : 0];
    // Nobody nests macros as deep as this.
    if (sharing > 5) {
      yield { name, colons, target, rest: "\\", whole: line, index: start + index };
      return;
    }
    const [more = ""] = close === -1 ? (/^[^\]]*\]/.exec(after) ?? ["\\"]) : [];
    const rest = line.slice(from, end) + more.replace(/\]$/, "");
    yield { name, colons, target, rest, whole: line.slice(start + index, end), index: start + index };
  }
}

/** References are parts of their own. Behind the host they cannot change it. */
function withoutReferences(written: string): string {
  const [, owned = ""] = /^\{([\w-]+)\}\/(?!\/)/.exec(written) ?? [];
  const url = ownAttribute.test(owned) ? written.replace(`{${owned}}`, "x") : written;
  const [host = ""] = /^(?:[a-z]+:)?\/\/[\w.:-]+\//i.exec(url) ?? [];
  return host === "" ? url : host + url.slice(host.length).replaceAll(/\{[\w-]+\}/g, "x");
}

/** Whether a reference is no part of a word, a scheme or a host: nothing can be put together with it. */
export function isApart(line: string, at: number, reference: string): boolean {
  const [before, after] = [line.slice(Math.max(0, at - 1_000), at), line.slice(at + reference.length)];
  if (/\/\/[\w.:-]+\/[^\s[\]]*$/.test(before)) return true;
  // The front page is a slash, and two of them begin a host. Where the whole site is, is no page's choice.
  if (after.startsWith("/") && /^\{[{%]/.test(reference) && !/^\{\{ *site\.(?:base)?url *\}\}$/.test(reference))
    return false;
  return /(?:^|[\s([,"'`*_|!;>-]|(?<!\S)(?:link|image)::?)$/.test(before) && !/^(?:[.:@-]?[\w{]|\/\/|:)/.test(after);
}
