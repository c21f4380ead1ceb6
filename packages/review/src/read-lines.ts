import { forbidden, handler, rawOutput } from "./forbidden.ts";
import type { Parts } from "./parts.ts";
import {
  activeTex,
  directiveOptions,
  directives,
  drawnActive,
  drawnLanguage,
  hidingClass,
  roles,
  runningMeta,
} from "./schema.ts";
import type { Flavor } from "./syntax.ts";

/** What a line begins with inside of lists and quotes. */
const prefix = /^(?:[ \t]*(?:>|[-+*|](?=[ \t])|\d+[.)](?=[ \t])|\[\^[^\]\s]+\]:|:(?=[ \t]+\S)))*[ \t]*/;
const container = /^(:{3,}|`{3,}(?=\{[\w:.-]+\})|~{3,}(?=\{[\w:.-]+\}))[ \t]*(?:\{([\w:.-]+)\}|([\w-]+))?(.*)$/;
const pythonBlock = /^(?:!!!|\?\?\?\+?)[ \t]+/;
const slashBlock = /^\/{3,}[ \t]*([\w-]+)(.*)$/;
const include =
  /^(?:<<<[ \t]*(\S+)|[;]*-{1,2}8<-{1,2}[ \t]*"?([^"\n]*)"?|@\[?include\]?[({ ]+([^)}\n]*)|!{1,3}include[({ <]*([^)}>\n]*)|@import[ \t(]+(\S*)|\$+include(\S*)|\{![ \t]*([^!\n]*)!\}|\[!(?:INCLUDE|code|file)[^\]]*\]\(?([^)\n]*)|import::(\S+)|\{\*[ \t]*(\S+)[^}\n]*\*\}|!\[\[([^\]\n]*)\]\])/i;
const plainNames = /^(?:code-group|steps|tabs?|expandable|hint|check|quote|abstract|bug|tabs-item|caption|list|grid)$/i;

/** Lines outside of code: blocks, includes, roles, attributes, formulas and hosts, and templates anywhere. */
export function readLive(parts: Parts, text: string, live: string, flavor: Flavor): void {
  readTemplates(parts, text, live, flavor);
  for (const { 0: line, index } of live.matchAll(/[^\n]+/g)) {
    const [skipped = ""] = prefix.exec(line) ?? [];
    const at = index + skipped.length;
    const bare = line.slice(skipped.length).trimEnd();
    readBlock(parts, bare, at);
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
      if (!/^\{[#.][\w-]+\}$/.test(given) || !roles.has(name))
        parts.unknown("directive", whole, index + offset, `No page of this site has the directive ${name}.`, {
          key: `directive ${name}`,
          find: name,
        });
    // "JavaScript: a sentence" is text.
    for (const { 0: whole, index: offset } of line.matchAll(
      /(?<![\w-])(?:java|vb|live)script(?:\s|&\w+;)*(?::|&colon;|&#0*58;|&#x0*3a;)[^\s`]\S*/gi,
    ))
      parts.unknown("other", whole, index + offset, "This is an address that runs code.");
    if (flavor.hasBraces)
      for (const { 0: whole, index: offset } of line.matchAll(/\{[^{}\n]*[^{}\s#.][^{}\n]*\}?/g))
        parts.unknown("expression", whole, index + offset, "A builder may read these braces as code.");
    parts.hosts(line.replaceAll(/\{[\w-]{1,60}\}/g, ""), index, false);
  }
  if (activeTex.test(live))
    for (const { 0: line, index } of live.matchAll(/[^\n]+/g))
      if (activeTex.test(line))
        parts.unknown("expression", line.trim(), index, "This formula links, loads or defines.");
}

function readBlock(parts: Parts, line: string, at: number): void {
  const [, , braced, plain, rest = ""] = container.exec(line) ?? [];
  const name = braced ?? plain;
  if (name !== undefined) readDirective(parts, name, rest.trim(), line, at);
  const [, block] = slashBlock.exec(line) ?? [];
  if (block !== undefined) readDirective(parts, block, "", line, at);
  const [, leaf] = /^::([a-z][\w-]*)(?=[\s[{]|$)/i.exec(line) ?? [];
  if (leaf !== undefined)
    parts.unknown("directive", line, at, `No page of this site has the directive ${leaf}.`, {
      key: `directive ${leaf}`,
      find: leaf,
    });
  const [marker = "", ...targets] = include.exec(line) ?? [];
  const target = targets.find((one) => one !== undefined);
  if (target !== undefined) readInclude(parts, line, target, at, marker.replace(/[^\w<$!@-].*$/s, "").slice(0, 12));
  if (pythonBlock.test(line) && !/^\S+[ \t]+[\w-]+(?:[ \t]+[\w-]+)*[ \t]*(?:"[^"<>{}]*"[ \t]*)?$/.test(line))
    parts.unknown("directive", line, at, "Builders may read this block in different ways.");
  const mark = /^(?:;;;|%%%|@@@|\^\^\^|\+\+\+(?!\d)|\|\|\||=-=|=\|=)/.exec(line);
  if (mark)
    parts.unknown("directive", line, at, "Some builders begin a block here.", {
      key: `directive ${mark[0]}`,
      find: mark[0],
    });
}

export function readDirective(parts: Parts, name: string, argument: string, text: string, at: number): void {
  if (rawOutput.test(name))
    return void parts.unknown("directive", text, at, `${name} puts its text into the page unread.`, {
      instead: forbidden.raw,
    });
  if (/^(?:literal)?include|^literalinclude|^download/.test(name))
    return void readInclude(parts, text, argument, at, name);
  if (/^(?:image|figure)$/.test(name))
    return void parts.address(argument.replace(/^\[.*\]$/, ""), at, { loads: true, text });
  const isPlain =
    (directives.has(name) && !/^(?:toctree|math)$/.test(name)) ||
    (/^(?:toctree|math)$/.test(name) && argument === "") ||
    plainNames.test(name);
  if (!isPlain || /[<>{}`\\]|(?:^|\s)on\w+=/.test(argument.replaceAll(/\{[#.][\w-]+\}/g, "")))
    parts.unknown(
      "directive",
      text,
      at,
      `No page of this site has the directive ${name} like this.`,
      isPlain ? {} : { key: `directive ${name}`, find: name },
    );
}

/** A file whose text becomes part of the page. */
export function readInclude(parts: Parts, text: string, target: string, at: number, name: string): void {
  const path = target.trim().replace(/[#{\s:].*$/s, "");
  if (/^[a-z][a-z0-9+.-]*:(?![a-z]*\$)|^\/\/|^~|^\$\{/i.test(target.trim()))
    return void parts.unknown("directive", text, at, "This includes a file from outside the documentation.", {
      instead: forbidden.outside,
    });
  parts.unknown("directive", text, at, "This puts another file into the page.", {
    key: `directive ${name || "include"}`,
    find: name || "include",
  });
  parts.address(path.replace(/^@site\/|^@\//, "/"), at, { loads: true, isInclude: true, text });
}

export function readRole(parts: Parts, name: string, text: string, at: number): void {
  if (rawOutput.test(name))
    return void parts.unknown("role", text, at, `${name} puts its text into the page unread.`, {
      instead: forbidden.raw,
    });
  const plain = name.replace(/^(?:py|c|cpp|js|rst|std):/, "");
  if (/^(?:download|include)$/.test(plain)) {
    const [, target = ""] = /(?:<|`)([^<>`]*)>?`$/.exec(text) ?? [];
    parts.address(target, at, { loads: true, text });
    return void parts.unknown("role", text, at, "Readers can download this file.", { key: `role ${name}`, find: name });
  }
  if (/^[#.]/.test(name)) return;
  if (
    !roles.has(plain) &&
    (!/`[\p{L}\p{N}_@#!~.$][^`<>\\]*(?:<[\w@#!~][\w./@#~ -]*>)?`/u.test(text) || /\.\.\//.test(text))
  )
    return void parts.unknown("role", text, at, `No page of this site has the role ${name} like this.`);
  if (!roles.has(plain))
    parts.unknown("role", text, at, `No page of this site has the role ${name}.`, { key: `role ${name}`, find: name });
}

/** Attributes in braces, which some builders give to what stands before. */
function readAttributes(parts: Parts, line: string, from: number): void {
  const [half] = /\{[: ][^{}]*$/.exec(line) ?? [];
  if (half !== undefined && /^\{:|^\{ +[.#]/.test(half))
    parts.unknown("attribute", half, from + line.length - half.length, "These attributes go on in the next line.");
  for (const { 0: whole, 1: inner = "", index } of line.matchAll(/(?<![{$\\])\{(?!\{|%)([^{}\n]*)\}/g)) {
    const isHiding =
      /(?:^|\s)(?:inert|popover|autofocus|contenteditable)(?:\s|$)/i.test(inner) ||
      hidingClass.test(inner) ||
      /#_/.test(inner);
    const isMarked = /^:|^[ \t]*[.#][\w-]/.test(inner) || /[\w:@-]+=/.test(inner);
    if (isHiding || (/^ [\w-]+ $/.test(inner) && /^[ \t]*(?:$|\|)/.test(line.slice(index + whole.length))))
      parts.unknown("attribute", whole, from + index, "Some builders give these attributes to the text before.");
    if (!isMarked || /^#[\w-]+#?$/.test(inner) || /^:(?:toc|\/?comment)$/.test(inner)) continue;
    const names = [...inner.matchAll(/([\w:@-]+)\s*=\s*("[^"]*"|'[^']*'|[^\s"']*)/g)];
    const at = from + index;
    for (const [, name = "", value = ""] of names) {
      const bare = value.replace(/^["']|["']$/g, "");
      if (handler.test(name))
        parts.unknown("attribute", whole, at, `${name} runs code.`, { instead: forbidden.handler });
      else if (/^(?:href|src|srcset|action|data|poster)$/i.test(name))
        parts.address(bare, at, { loads: true, text: whole });
      else if (
        !/^(?:width|height|align|loading|target|rel|start|title|alt|class|id|lang|language|linenums|hl_lines|data-[\w-]+|markdown|name|key|style)$/i.test(
          name,
        ) ||
        /[<>`\\]/.test(bare) ||
        (/^style$/i.test(name) && /[(\\]|position|display|opacity|visib|content/.test(bare))
      )
        parts.unknown("attribute", whole, at, `No page of this site has the attribute ${name} here.`, {
          key: `attribute ${name}`,
          find: name,
        });
    }
    const left = names.reduce((rest, [one]) => rest.replace(one, ""), inner);
    if (/^:/.test(inner) && !/^:(?:[\s\w.#:-]|\{)*$/.test(left))
      parts.unknown("attribute", whole, at, "Builders may read these attributes in different ways.");
    if (/[<>`]/.test(left) && names.length > 0)
      parts.unknown("attribute", whole, at, "Builders may read these attributes in different ways.");
  }
}

/** Tags of template engines run before any Markdown is read: in code and in comments too. */
function readTemplates(parts: Parts, page: string, live: string, flavor: Flavor): void {
  const { isVue, isUnsure } = flavor;
  // Where nobody knows of an engine, none reads code.
  const isOnlyMaybe = isUnsure && flavor.templates === "";
  const templates = isOnlyMaybe ? "liquid mdbook" : flavor.templates;
  const text = isOnlyMaybe ? live : page;
  const says = (whole: string, at: number, name: string, kind: "shortcode" | "template") => {
    if (
      /\.\.|["'= ]\/(?!\/)[\w./-]*\.\w+\b.*include|include.*["'= ]\//.test(whole) &&
      /include|readfile|file|import|render/i.test(name)
    )
      return void parts.unknown(kind, whole, at, "This includes a file from outside the documentation.", {
        instead: forbidden.outside,
      });
    const isExact =
      name === "" || /[<>](?!\}\}$)(?!.*[>%]\}\}$)|(?<![\w-])on\w+\s*=|script\s*:|srcdoc/i.test(whole.slice(3, -3));
    parts.unknown(
      kind,
      whole,
      at,
      `No page of this site has the ${kind} ${name || whole.slice(0, 40)}.`,
      isExact ? {} : { key: `${kind} ${name}`, find: name },
    );
    parts.hosts(whole.slice(2, -2), at, true);
  };
  if (templates.includes("hugo")) {
    for (const { 0: whole, 1: name = "", index } of text.matchAll(
      /\{\{[<%][ \t\n]*(?!\/\*)(\/?[^\s>%]*)(?:(?![>%]\}\})[\s\S])*(?:[>%]\}\}|$)/g,
    ))
      if (!/^\//.test(name) && !/^\{\{[<%] *(?:rel)?ref +"?[\w./#-]+"? *[>%]\}\}$/.test(whole))
        says(whole, index, name, "shortcode");
  }
  if (templates.includes("liquid")) {
    for (const { 0: whole, 1: name = "", index } of text.matchAll(/\{%-?\s*([\w-]*)(?:(?!%\})[\s\S])*(?:%\}|$)/g))
      if (
        !/^(?:end|raw$|comment$|highlight$|else$|link$|post_url$)/.test(name) ||
        !/^[^<>{]*[\w\s"'./#%}=:,-]*$/.test(whole.slice(2))
      )
        says(
          whole,
          index,
          /^include/.test(name)
            ? (/^\{%-?\s*include\w*\s+([\w./-]+)/.exec(whole)?.[0].replace(/^\{%-?\s*/, "") ?? name)
            : name,
          "template",
        );
    for (const { 0: whole, 1: inner = "", index } of text.matchAll(/\{\{(?![<%#])-?((?:(?!\}\})[\s\S])*)(?:\}\}|$)/g)) {
      const path = /^\s*([\w.-]+)(?:\s*\|\s*[\w\s:"'.,/-]*)*\s*-?$/.exec(inner)?.[1];
      if (!/^\s*(["'])(?!\/\/)[\w./#-]+\1\s*\|\s*(?:relative|absolute)_url\s*$/.test(inner))
        says(whole, index, path ?? "", "template");
    }
  }
  if (templates.includes("mdbook"))
    for (const { 0: whole, 1: name = "", 2: target = "", index } of text.matchAll(
      /(?<!\\)\{\{\s*#(\w+)\s*([^}\n]*)\}\}/g,
    ))
      readInclude(parts, whole, target, index, `{{#${name}`);
  // What stands for an address may end with a slash, and two of them begin a host.
  if (templates !== "")
    for (const { 0: whole, index } of text.matchAll(/\]\(\s*\{[{%](?![ -]*site\.(?:base)?url)[^}\n]*\}\}?\//g))
      parts.unknown("template", whole, index, "This address begins with what a template says.");
  for (const { 0: whole, 1: target = "", index } of page.matchAll(
    /<!--\s*@include:?\s*([^\s>]*)[^>]*>|^[ \t]*;?-{1,2}8<-{1,2}[ \t]*"?([^"\n]*)/gm,
  ))
    readInclude(
      parts,
      whole.trim(),
      target || (/"([^"]*)/.exec(whole)?.[1] ?? ""),
      index,
      whole.includes("8<") ? "8<" : "@include",
    );
  if (isVue || templates !== "")
    for (const { 0: whole, index } of text.matchAll(
      /(?:&#(?:123|x7b);|&lbrace;|&lcub;|\\\{)\s*(?:&#(?:123|x7b);|&lbrace;|&lcub;|\\?\{)[^\n]*/gi,
    ))
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
    if (drawnLanguage.test(name)) {
      const isActiveDrawing = drawnActive.test(code) || activeTex.test(code);
      parts.unknown(
        "code block",
        isActiveDrawing ? raw : first,
        start,
        `Some builders draw or run blocks of ${name}.`,
        isActiveDrawing ? {} : { key: `code block ${name}`, find: name },
      );
    } else if (runningMeta.test(extra.replaceAll(/=(?:"[^"]*"|'[^']*')|\[[^\]]*\]/g, "="))) {
      const [word = ""] = runningMeta.exec(extra) ?? [];
      const flag = word.replaceAll(/\W/g, "");
      const isTyped =
        flag === "twoslash" &&
        /\b(?:from|import|require)\b[\s(]*["'`]\s*[./~]|\/\/\/\s*<|@filename|\/\/\s*@(?!errors|noErrors|log)/.test(
          code,
        );
      parts.unknown(
        "code block",
        isTyped ? raw : first,
        start,
        `Some builders run or load blocks with ${flag}.`,
        isTyped ? {} : { key: `code block ${flag}`, find: flag },
      );
    } else if (
      /[<\\]|(?:^|\s)on\w+=|=\s*["'][^"']*[<{]/i.test(info.replaceAll(/\{[\d,\s-]*\}/g, "")) ||
      (/^\{|\}\s*\{|^[^\s{]*\{[^\d}]*=/.test(info) &&
        !/^\{?[ .\w#+-]*(?:\{?(?:title|caption|linenos|lineNos|linenums|hl_lines|linenostart|filename|file_name|name|highlight|lines|style|number|startFrom|start|label|copy|wrap|numberLines|ignore|tabWidth)=?(?:"[^"<>{}]*"|[\w-]+|\[[^\]<>]*\])?[ ,]*)*\}?$/.test(
          info,
        ))
    )
      parts.unknown("attribute", first, start, "Builders may read the attributes of this block in different ways.");
  }
  // Every parser ends it where it ends for this one: same marks, same indent, and nothing like them inside.
  const column = start - text.lastIndexOf("\n", start - 1) - 1;
  const lead = text.slice(start - column, start);
  const isClosed =
    lines.length > 1 &&
    last.trim() === marks &&
    last === lead.replaceAll(/[^ \t]/g, " ").slice(0, last.length - marks.length) + marks;
  const inner = lines.slice(1, -1);
  const isEven =
    inner.every((line) => line.trim() === "" || line.startsWith(lead.replaceAll(/[^ ]/g, " "))) &&
    /^(?: *|[ ]*(?:[-*+]|\d+[.)]) +)$/.test(lead);
  const isQuoted = /^> ?$/.test(lead);
  const hasMarks =
    inner.some((line) => /^[ \t>]*(?::{3,}|\${2})[ \t]*$/.test(line)) ||
    inner.some(
      (line) =>
        new RegExp(`^[ \\t>]*${marks[0]}{${marks.length},}`).test(line.replace(/^ {0,3}/, "")) ||
        (/^[ \t]*(?:`{3}|~{3})/.test(line) && marks.length === 3),
    );
  const isInfoPlain = !/[`~]/.test(info) && !/[^\x20-\x7e\p{L}\p{N}\p{P}]/u.test(first);
  return (
    isClosed &&
    (isEven || isQuoted) &&
    !hasMarks &&
    isInfoPlain &&
    follows(text, start - column, lead, flavor.isUnsure) &&
    (!flavor.isUnsure ||
      (flavor.hasInfos === true && /^[\w+#.-]*(?: +(?:title|linenums|hl_lines)="[^"]*")*$/.test(info)) ||
      /^[\w+#.-]*$/.test(info) ||
      !/\n[ \t]*\n/.test(raw))
  );
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

export function readOption(parts: Parts, option: string, value: string, at: number): void {
  const text = `:${option}: ${value}`;
  if (option === "target" || option === "link") return void parts.address(value, at, { text });
  if (/^(?:file|url|src|path|include|literal)/.test(option)) return void readInclude(parts, text, value, at, option);
  if (!directiveOptions.test(option) || /<[a-z!/]|!\[|\{[\w:-]+\}`|:[\w:-]+:`/i.test(value))
    parts.unknown(
      "attribute",
      text,
      at,
      `No page of this site has the option ${option} like this.`,
      directiveOptions.test(option) ? {} : { key: `attribute ${option}`, find: option },
    );
}
