import { forbidden, handler, rawOutput } from "./forbidden.ts";
import type { Parts } from "./parts.ts";
import {
  activeTex,
  addressAttributes,
  attributes,
  directiveOptions,
  directives,
  drawnActive,
  drawnLanguage,
  hidingClass,
  roles,
  runningMeta,
} from "./schema.ts";
import type { Flavor } from "./syntax.ts";

const differently = "Builders may read this in different ways.";
/** What a line begins with inside of lists and quotes. */
const prefix = /^(?:[ \t]*(?:>|[-+*|](?=[ \t])|\d+[.)](?=[ \t])|\[\^[^\]\s]+\]:|:(?=[ \t]+\S)))*[ \t]*/;
/** The opening line of a block with a name: `::: tip`, ```` ```{note} ````, `/// details`, `::youtube`. */
const container =
  /^(?::{3,}|`{3,}(?=\{[\w:.-]+\})|~{3,}(?=\{[\w:.-]+\})|\/{3,})[ \t]*(?:\{([\w:.-]+)\}|([\w-]+))?(.*)$/;
const leaf = /^::([a-z][\w-]*)(?=[\s[{]|$)/i;
const pythonBlock = /^(?:!!!|\?\?\?\+?)[ \t]+/;
const otherBlock = /^(?:;;;|%%%|@@@|\^\^\^|\+\+\+(?!\d)|\|\|\||=-=|=\|=)/;
const include =
  /^(?:<<<[ \t]*(\S+)|[;]*-{1,2}8<-{1,2}[ \t]*"?([^"\n]*)"?|@\[?include\]?[({ ]+([^)}\n]*)|!{1,3}include[({ <]*([^)}>\n]*)|@import[ \t(]+(\S*)|\$+include(\S*)|\{![ \t]*([^!\n]*)!\}|\[!(?:INCLUDE|code|file)[^\]]*\]\(?([^)\n]*)|import::(\S+)|\{\*[ \t]*(\S+)[^}\n]*\*\}|!\[\[([^\]\n]*)\]\])/i;

/** Lines outside of code: blocks, includes, roles, attributes, formulas and hosts, and templates anywhere. */
export function readLive(parts: Parts, text: string, live: string, flavor: Flavor): void {
  readTemplates(parts, text, live, flavor);
  for (const { 0: line, index } of live.matchAll(/[^\n]+/g)) {
    const [skipped = ""] = prefix.exec(line) ?? [];
    readBlock(parts, line.slice(skipped.length).trimEnd(), index + skipped.length);
    if (/^[\s>]*attrs:/.test(line) || (flavor.hasBraces && /^(?:import|export)\s/.test(line)))
      parts.unknown("expression", line.trim(), index, "Some builders read this line as code.");
    // What one parser takes for text may be a link for another.
    for (const { 0: whole, 1: url = "", index: offset } of line.matchAll(
      /\](?:\(|:[ \t])[ \t]*<?([a-z/][^)>\n]{0,2000})/gi,
    ))
      if (/^[a-z][a-z0-9+.-]*:\S|^\/\s*\/|^[a-z]*\s*script/i.test(url))
        parts.address(url.replace(/\s+["'(].*$|\s+$/, ""), index + offset, { text: whole });
    for (const { 0: whole, 1: role = "", index: offset } of line.matchAll(/\{([^{}\s`]{1,60})\}`[^`\n]*`/g))
      readRole(parts, role, whole, index + offset);
    if (!flavor.isMdx) readAttributes(parts, line, index);
    for (const { 0: whole, 1: name = "", 2: given = "", index: offset } of line.matchAll(
      /(?<![\w:/[`]):{1,2}([a-z][\w-]*)(?:\[[^\]\n]*\](\{[^}\n]*\})?|\{[^}\n]*=[^}\n]*\})/g,
    ))
      if (!/^\{[#.][\w-]+\}$/.test(given) || !roles.has(name)) parts.unseen("directive", name, whole, index + offset);
    // "JavaScript: a sentence" is text.
    for (const { 0: whole, index: offset } of line.matchAll(
      /(?<![\w-])(?:java|vb|live)script(?:\s|&\w+;)*(?::|&colon;|&#0*58;|&#x0*3a;)[^\s`]\S*/gi,
    ))
      parts.unknown("other", whole, index + offset, "This is an address that runs code.");
    if (flavor.hasBraces)
      for (const { 0: whole, index: offset } of line.matchAll(/\{[^{}\n]*[^{}\s#.][^{}\n]*\}?/g))
        parts.unknown("expression", whole, index + offset, "A builder may read these braces as code.");
    if (activeTex.test(line)) parts.unknown("expression", line.trim(), index, "This formula links, loads or defines.");
    parts.hosts(line.replaceAll(/\{[\w-]{1,60}\}/g, ""), index, false);
  }
}

function readBlock(parts: Parts, line: string, at: number): void {
  const [, braced, name = braced, rest = ""] = container.exec(line) ?? [];
  if (name !== undefined) readDirective(parts, name, line.startsWith("/") ? "" : rest.trim(), line, at);
  const [marker = "", ...targets] = include.exec(line) ?? [];
  const target = targets.find((one) => one !== undefined);
  if (target !== undefined) readInclude(parts, line, target, at, marker.replace(/[^\w<$!@-].*$/s, "").slice(0, 12));
  if (pythonBlock.test(line) && !/^\S+[ \t]+[\w-]+(?:[ \t]+[\w-]+)*[ \t]*(?:"[^"<>{}]*"[ \t]*)?$/.test(line))
    parts.unknown("directive", line, at, differently);
  const other = leaf.exec(line)?.[1] ?? otherBlock.exec(line)?.[0];
  if (other !== undefined) parts.unseen("directive", other, line, at);
}

export function readDirective(parts: Parts, name: string, argument: string, text: string, at: number): void {
  if (rawOutput.test(name)) return void parts.refuse("directive", text, at, unread, forbidden.raw);
  if (/^(?:literal)?include|^download/.test(name)) return void readInclude(parts, text, argument, at, name);
  if (/^(?:image|figure)$/.test(name))
    return void parts.address(argument.replace(/^\[.*\]$/, ""), at, { loads: true, text });
  const isPlain = directives.has(name.toLowerCase()) && (argument === "" || !/^(?:toctree|math)$/.test(name));
  const isOdd = /[<>{}`\\]|(?:^|\s)on\w+=/.test(argument.replaceAll(/\{[#.][\w-]+\}/g, ""));
  if (!isPlain || isOdd) parts.unseen("directive", name, text, at, { isExact: isPlain });
}
const unread = "This puts its text into the page unread.";

/** A file whose text becomes part of the page. */
export function readInclude(parts: Parts, text: string, target: string, at: number, name = "include"): void {
  const path = target.trim().replace(/[#{\s:].*$/s, "");
  if (/^[a-z][a-z0-9+.-]*:(?![a-z]*\$)|^\/\/|^~|^\$\{/i.test(target.trim()))
    return void parts.refuse("directive", text, at, fromOutside, forbidden.outside);
  parts.unseen("directive", name || "include", text, at);
  parts.address(path.replace(/^@site\/|^@\//, "/"), at, { loads: true, isInclude: true, text });
}
const fromOutside = "This includes a file from outside the documentation.";

export function readRole(parts: Parts, name: string, text: string, at: number): void {
  if (rawOutput.test(name)) return void parts.refuse("role", text, at, unread, forbidden.raw);
  const plain = name.replace(/^(?:py|c|cpp|js|rst|std):/, "");
  const isFile = /^(?:download|include)$/.test(plain);
  if (isFile) parts.address(/(?:<|`)([^<>`]*)>?`$/.exec(text)?.[1] ?? "", at, { loads: true, text });
  if (roles.has(plain) || /^[#.]/.test(name)) return;
  const isName = /`[\p{L}\p{N}_@#!~.$][^`<>\\]*(?:<[\w@#!~][\w./@#~ -]*>)?`/u.test(text) && !/\.\.\//.test(text);
  parts.unseen("role", name, text, at, { isExact: !isName && !isFile });
}

export function readOption(parts: Parts, option: string, value: string, at: number): void {
  const text = `:${option}: ${value}`;
  const isKnown = directiveOptions.test(option);
  if (option === "target" || option === "link") parts.address(value, at, { text });
  else if (/^(?:file|url|src|path|include|literal)/.test(option)) readInclude(parts, text, value, at, option);
  else if (!isKnown || /<[a-z!/]|!\[|\{[\w:-]+\}`|:[\w:-]+:`/i.test(value))
    parts.unseen("attribute", option, text, at, { isExact: isKnown });
}

/** Attributes in braces, which some builders give to what stands before. */
function readAttributes(parts: Parts, line: string, from: number): void {
  const [half] = /\{(?::| +[.#])[^{}]*$/.exec(line) ?? [];
  if (half !== undefined) parts.unknown("attribute", half, from + line.length - half.length, differently);
  for (const { 0: whole, 1: inner = "", index } of line.matchAll(/(?<![{$\\])\{(?!\{|%)([^{}\n]*)\}/g)) {
    const at = from + index;
    const isHiding =
      /(?:^|\s)(?:inert|popover|autofocus|contenteditable)(?:\s|$)|#_/i.test(inner) || hidingClass.test(inner);
    if (isHiding || (/^ [\w-]+ $/.test(inner) && /^[ \t]*(?:$|\|)/.test(line.slice(index + whole.length))))
      parts.unknown("attribute", whole, at, "Some builders give these attributes to the text before.");
    const isMarked = /^:|^[ \t]*[.#][\w-]|[\w:@-]+=/.test(inner);
    if (!isMarked || /^#[\w-]+#?$|^:(?:toc|\/?comment)$/.test(inner)) continue;
    const given = /([\w:@-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"']*)/g;
    for (const [, name = "", value = ""] of inner.matchAll(given)) {
      const bare = value.replace(/^["']|["']$/g, "");
      const isKnown =
        attributes.has(name.toLowerCase()) || /^(?:linenums|hl_lines|data-[\w-]+|name|key|style)$/i.test(name);
      if (handler.test(name)) parts.refuse("attribute", whole, at, `${name} runs code.`, forbidden.handler);
      else if (addressAttributes.has(name.toLowerCase()) || /^(?:srcset|action|data)$/i.test(name))
        parts.address(bare, at, { loads: true, text: whole });
      else if (
        !isKnown ||
        /[<>`\\]/.test(bare) ||
        (/^style$/i.test(name) && /[(\\]|position|display|opacity|visib|content/.test(bare))
      )
        parts.unseen("attribute", name, whole, at);
    }
    const left = inner.replaceAll(given, "");
    if ((/^:/.test(inner) && !/^:(?:[\s\w.#:-]|\{)*$/.test(left)) || (/[<>`]/.test(left) && left !== inner))
      parts.unknown("attribute", whole, at, differently);
  }
}

/** `{{ … }}` and `{% … %}`, each up to its end or the next one in it. */
const templateTag = /\{(?:\{([<%#]?)|%)((?:(?!\}\}|%\}|\{[{%])[\s\S])*)(?:[>%]?\}\}|%\}|(?=\{[{%])|$)/g;
const plainTags = {
  hugo: /^\s*(?:\/|(?:rel)?ref +"?[\w./#-]+"? *[>%]?$)/,
  liquid: /^-?\s*(?:(?:end\w*|raw|comment|highlight|else|link|post_url)(?![\w-])[^<>{]*$)/,
  output: /^\s*(["'])(?!\/\/)[\w./#-]+\1\s*\|\s*(?:relative|absolute)_url\s*$/,
  mdbook: /^\W/,
};

/** Tags of template engines run before any Markdown is read: in code and in comments too. */
function readTemplates(parts: Parts, page: string, live: string, flavor: Flavor): void {
  const { isVue, isUnsure } = flavor;
  // Where nobody knows of an engine, none reads code.
  const isOnlyMaybe = isUnsure && flavor.templates === "";
  const templates = isOnlyMaybe ? "liquid mdbook" : flavor.templates;
  const text = isOnlyMaybe ? live : page;
  for (const { 0: whole, 1: mark, 2: inner = "", index } of text.matchAll(templateTag)) {
    const form = mark === undefined ? "liquid" : mark === "" ? "output" : mark === "#" ? "mdbook" : "hugo";
    if (!templates.includes(form.replace("output", "liquid")) || plainTags[form].test(inner)) continue;
    const [, name = "", target = ""] =
      (form === "output"
        ? /^-?\s*([\w.-]+)(?:\s*\|\s*[\w\s:"'.,/-]*)*\s*-?$/
        : /^-?\s*(include\w*\s+[\w./-]+|[^\s>%]+)\s*([\s\S]*)/
      ).exec(inner) ?? [];
    const kind = form === "hugo" ? "shortcode" : "template";
    if (form === "mdbook") readInclude(parts, whole, target, index, `{{#${name}`);
    else if (
      /include|readfile|file|import|render/i.test(name) &&
      /\.\.|include.*["'= ]\/|["'= ]\/(?!\/)[\w./-]*\.\w+\b.*include/.test(whole)
    )
      parts.refuse(kind, whole, index, fromOutside, forbidden.outside);
    else {
      const isExact = name === "" || /[<>]|(?<![\w-])on\w+\s*=|script\s*:|srcdoc/i.test(inner.replace(/^<|>$/g, ""));
      parts.unseen(kind, name || whole.slice(0, 40), whole, index, { isExact, find: name.split(/\s/).at(-1) });
      parts.hosts(inner, index, true);
    }
  }
  // What stands for an address may end with a slash, and two of them begin a host.
  if (templates !== "")
    for (const { 0: whole, index } of text.matchAll(/\]\(\s*\{[{%](?![ -]*site\.(?:base)?url)[^}\n]*\}\}?\//g))
      parts.unknown("template", whole, index, "This address begins with what a template says.");
  for (const { 0: whole, 1: target, 2: other = "", index } of page.matchAll(
    /<!--\s*@include:?\s*([^\s>]*)[^>]*>|^[ \t]*;?-{1,2}8<-{1,2}[ \t]*"?([^"\n]*)/gm,
  ))
    readInclude(parts, whole.trim(), target ?? other, index, target === undefined ? "8<" : "@include");
  const braces = /(?:&#(?:123|x7b);|&lbrace;|&lcub;|\\\{)\s*(?:&#(?:123|x7b);|&lbrace;|&lcub;|\\?\{)[^\n]*/gi;
  if (isVue || templates !== "")
    for (const { 0: whole, index } of text.matchAll(braces))
      parts.unknown("expression", whole, index, "Some builders evaluate this.");
  if (isVue && !templates.includes("liquid"))
    for (const { 0: whole, index } of live.matchAll(/\{\{(?![<%#])(?:(?!\}\})[\s\S])*(?:\}\}|$)/g))
      parts.unknown("expression", whole, index, "Vue evaluates this expression.");
}

interface Fence {
  start: number;
  end: number;
  lang: string | null;
  meta: string | null;
}
const plainInfo =
  /^\{?[ .\w#+-]*(?:\{?(?:title|caption|linenos|lineNos|linenums|hl_lines|linenostart|filename|file_name|name|highlight|lines|style|number|startFrom|start|label|copy|wrap|numberLines|ignore|tabWidth)=?(?:"[^"<>{}]*"|[\w-]+|\[[^\]<>]*\])?[ ,]*)*\}?$/;
/** Types of this program's own files are read when the page is built. */
const typedImport =
  /\b(?:from|import|require)\b[\s(]*["'`]\s*[./~]|\/\/\/\s*<|@filename|\/\/\s*@(?!errors|noErrors|log)/;

/** Judges what a block of code is, and says whether every builder reads it as one. */
export function readFence(parts: Parts, text: string, { start, end, lang, meta }: Fence, flavor: Flavor): boolean {
  const raw = text.slice(start, end);
  const lines = raw.split("\n");
  const [first = "", last = ""] = [lines[0], lines.at(-1)];
  const [marks = ""] = /^(?:`{3,}|~{3,})/.exec(first) ?? [];
  if (marks === "") return false;
  const info = first.slice(marks.length).trim();
  const code = lines.slice(1, -1).join("\n");
  parts.hosts(info, start, true);
  const [, directive, argument = ""] = /^\{([\w:.-]+)\}[ \t]*(.*)$/.exec(info) ?? [];
  if (directive !== undefined && !flavor.isMdx) {
    readDirective(parts, directive, argument, first, start);
    for (const { 1: option = "", 2: value = "", index } of code.matchAll(/^[ \t]*:([\w-]+):[ \t]*(.*)$/gm))
      readOption(parts, option, value, start + first.length + 1 + index);
    // All but listings of code hold Markdown.
    if (!/^(?:code(?:-block|-cell)?|sourcecode|highlight)$/.test(directive)) return false;
  } else {
    const name = (lang ?? "").replace(/^\{\.?|[,:{}].*$/g, "");
    const extra = `${(lang ?? "").slice(name.length)} ${meta ?? ""}`;
    const [flag] = runningMeta.exec(extra.replaceAll(/=(?:"[^"]*"|'[^']*')|\[[^\]]*\]/g, "=")) ?? [];
    const isDrawn = drawnLanguage.test(name);
    const drawn = isDrawn ? name : flag?.replaceAll(/\W/g, "");
    const isExact = isDrawn
      ? drawnActive.test(code) || activeTex.test(code)
      : drawn === "twoslash" && typedImport.test(code);
    if (drawn !== undefined) parts.unseen("code block", drawn, isExact ? raw : first, start, { isExact });
    else if (
      /[<\\]|(?:^|\s)on\w+=|=\s*["'][^"']*[<{]/i.test(info.replaceAll(/\{[\d,\s-]*\}/g, "")) ||
      (/^\{|\}\s*\{|^[^\s{]*\{[^\d}]*=/.test(info) && !plainInfo.test(info))
    )
      parts.unknown("attribute", first, start, differently);
  }
  // Every parser ends it where it ends for this one: same marks, same indent, and nothing like them inside.
  const column = start - text.lastIndexOf("\n", start - 1) - 1;
  const lead = text.slice(start - column, start);
  const blank = lead.replaceAll(/[^ \t]/g, " ");
  const inner = lines.slice(1, -1);
  return (
    lines.length > 1 &&
    last.trim() === marks &&
    last === blank.slice(0, last.length - marks.length) + marks &&
    (/^> ?$/.test(lead) ||
      (/^ *(?:(?:[-*+]|\d+[.)]) +)?$/.test(lead) &&
        inner.every((line) => line.trim() === "" || line.startsWith(blank)))) &&
    !inner.some(
      (line) => /^[ \t>]*(?::{3,}|\${2})[ \t]*$|^[ \t>]*(?:`{3}|~{3})/.test(line) && !isShorter(line, marks),
    ) &&
    !/[`~]/.test(info) &&
    !/[^\x20-\x7e\p{L}\p{N}\p{P}]/u.test(first) &&
    follows(text, start - column, lead, flavor.isUnsure) &&
    (!flavor.isUnsure ||
      (flavor.hasInfos === true && /^[\w+#.-]*(?: +(?:title|linenums|hl_lines)="[^"]*")*$/.test(info)) ||
      /^[\w+#.-]*$/.test(info) ||
      !/\n[ \t]*\n/.test(raw))
  );
}

/** A block of longer marks may show shorter ones. */
function isShorter(line: string, marks: string): boolean {
  return marks.length > 3 && !line.includes(marks) && /[`~]/.test(line);
}

/** A block may follow a blank line or words. After an unusual line it may be part of it. */
function follows(text: string, lineStart: number, lead: string, isUnsure: boolean): boolean {
  const before = text.slice(text.lastIndexOf("\n", lineStart - 2) + 1, Math.max(0, lineStart - 1));
  if (lead.trim() !== "") return lead.trim() === ">";
  if (before.trim() === "") return lead === "" || lead.length % 2 === 0 || lead.length === 3;
  if (isUnsure && /^\s*(?:[-+*]|\d+[.)])\s/.test(before)) return false;
  if (!isUnsure && /^\s*<!--(?:(?!--)[^<>`])*-->$/.test(before)) return true;
  // HTML goes on to the next blank line, and a block that is indented less than its list is none of it.
  return (
    !/^\s*<|\\$|^\s*\[.*\]:|[`~]{3}/.test(before.replace(/<\/?(?:summary|details|[A-Z]\w*)[^>]*>$/, "")) &&
    !/^(?: {4}|\t)/.test(before.slice(lead.length))
  );
}
