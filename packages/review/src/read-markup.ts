import { forbidden, forbiddenScheme } from "./forbidden.ts";
import type { Parts } from "./parts.ts";
import { readDirective, readInclude, readOption, readRole } from "./read-lines.ts";
import {
  activeTex,
  asciidocAttributes,
  asciidocMacros,
  asciidocOptions,
  asciidocStyles,
  fieldLists,
  hidingClass,
} from "./schema.ts";

/** Known only behind the same line: behind another one it may be shown as code. */
function behind(text: string, at: number, line: string): string {
  return `${/[^\n]*$/.exec(text.slice(Math.max(0, at - 2_000), at).trimEnd())?.[0] ?? ""}\n${line}`;
}

/** Docutils finds literals only between these. */
const literal = /(?<![^\s(/-])``(?![\s"')\]}>])[^`\n]*[^`\s]``(?![^\s)\]}>'".,:;!?/-])/g;
/** Words, and links and roles that are judged for themselves. */
const plainMarkup = /^(?:(?!::|_:)[^|<>\\]|<[^<>\\]*>`)*$/;

/** reStructuredText: every line is live, because where a literal block ends depends on all before it. */
export function readRst(parts: Parts, text: string): void {
  const live = text.replaceAll(literal, (code) => " ".repeat(code.length));
  const lines = [...live.matchAll(/[^\n]+(?:\n|$)|\n/g)];
  for (const [index, { 0: line, index: at }] of lines.entries()) {
    const bare = line.trim();
    if (bare === "") continue;
    const odd = (shown: string) =>
      parts.unknown("directive", behind(text, at, shown), at, "Builders may read this markup in different ways.");
    /** A directive's argument and a target go on in the lines below. */
    const head = () => {
      let end = index + 1;
      while (/^[ \t]+(?!:[\w-]+:(?:\s|$))\S/.test(lines[end]?.[0] ?? "") && end < index + 50) end += 1;
      return [bare, ...lines.slice(index + 1, end).map(([one]) => one.trim())].join("\n");
    };
    parts.hosts(line, at, false);
    if (activeTex.test(line) || /`[^`<]*<[^`]*\\[^`]*`/.test(line)) odd(bare);
    for (const { 0: url, index: offset } of line.matchAll(/(?<![\w:-])[a-z-]+:[^\s:`]\S*/gi))
      if (forbiddenScheme.test(url)) parts.address(url, at + offset);
    const [, option = "", value = ""] = /^:([\w.-]+):(?:\s+(.*))?$/.exec(bare) ?? [];
    if (option !== "" && !fieldLists.test(option)) readOption(parts, option, value, at);
    if (/^(?:target|link|file|url)$/.test(option) && head() !== bare) odd(head());
    for (const { 0: whole, 1: first, 2: last = "", index: offset } of line.matchAll(
      /:([^\s`:][^\s`]{0,60}?):`[^`\n]*(?:`|$)|`[^`\n]*`:([^\s`:][^\s`]{0,60}?):(?!`)/g,
    ))
      readRole(parts, first ?? last, whole, at + offset);
    // Markup can also begin behind list markers, in cells, and behind a directive's own name.
    const starts = [...line.matchAll(/(?<![^\s|*+-])(?:\.\.|__)(?=\s|$)/g)];
    if (starts.length === 1 && /^(?:\.\.|__)(?:\s|$)/.test(bare)) readExplicit(head(), at, odd);
    else if (starts.length > 0) {
      const [, name] = /\.\. ([\w:.+-]+)::/.exec(line) ?? [];
      if (name) readDirective(parts, name, "", head(), at);
      odd(head());
    }
  }
  for (const { 0: whole, 1: target = "", 2: mark, index } of live.matchAll(/<([^<>]*)>(`|[ \t]*$)/gm)) {
    // A role's target is a name; a link's is an address. Without the mark, only a table of contents has links.
    if (/^[\w.~!/-]+$/.test(target) && !/^(?:\.\.\/){4}/.test(target)) continue;
    if (mark === "`" || /^\s*(?:[\w\\+.-]+:|[/\\]{2})/.test(target))
      parts.address(target.replaceAll(/\s/g, "").replace(/_$/, ""), index, { text: whole });
  }
  parts.sample([...text.matchAll(literal)].map(([code]) => code).join(" "), 0);

  function readExplicit(head: string, at: number, odd: (shown: string) => void): void {
    const markup = head.replace(/^(?:\.\.|(__))\s*/, (_, mark) => (mark ? "_: " : ""));
    const [, target] = /^_(?:`[^`<>\\]+`|(?:\\:|[^`:])*(?::[\w.-]+)*):(?:\s+|$)([\s\S]*)$/.exec(markup) ?? [];
    const [, substitution, name = substitution, argument = ""] =
      /^(?:\|[^|<>\\]+\|\s+(replace|image|unicode|date)|([\w:.+-]+))::(?:\s+([\s\S]*))?$/.exec(markup) ?? [];
    if (target === "") return;
    if (target !== undefined)
      return void parts.address(target.replaceAll(/\s/g, "").replace(/_$/, ""), at, { text: head });
    if (name === undefined) {
      if (!/^\[[#*\w-]*\](?:\s|$)|^$/.test(markup) && (/^[_[|]/.test(markup) || !plainMarkup.test(markup))) odd(head);
      return;
    }
    const kind = name.replace(/^(?:py|c|cpp|js|rst|std):/, "");
    const block = blockBelow(live, at);
    if (kind === "raw") readDirective(parts, kind, argument, behind(text, at, block), at);
    else if (kind === "image" || substitution === undefined)
      readDirective(
        parts,
        kind,
        argument,
        /^(?:image|figure|.*include|math|toctree)$/.test(kind) ? head : head.split("\n", 1).join(),
        at,
      );
    if (/^(?:math|list-table|csv-table|parsed-literal)$/.test(kind) && /:(?:file|url):/.test(block)) odd(block);
  }
}

/** A line with the indented or, for a block between marks, all lines that belong to it. */
function blockBelow(text: string, at: number): string {
  const body = text[at] === "[" ? text.slice(at, at + 20_000) : text.slice(at);
  const [mark = ""] = /^\+{4,}/.exec(body) ?? [];
  const end = mark !== "" ? body.indexOf(`\n${mark}`, 1) : body.search(/^\s*\[/.test(body) ? /\n[ \t]*\n/ : /\n(?=\S)/);
  return (end === -1 ? body : body.slice(0, end)).trimEnd();
}

/** AsciiDoc itself defines what names the building machine. Other names are the site's own, or characters. */
const machine =
  /^(?:doc(?:dir|file|filesuffix|name|title)|title|subtitle|(?:author|email|asciidoctor|safe-mode|env|file)[\w-]*|(?:first|middle|last)name\w*|rev(?:number|date|remark)|out(?:dir|file|filesuffix)|user-home|base-?dir|[lg]t|amp|(?:start|end)sb|(?:icons|images|styles|scripts)dir|set:.*|counter2?:.*)$/i;
/** `C++`, or words that are passed: words stay words. */
const inertQuote =
  /(?<![^\s(|`])(?:\w+\+\+|\${2,})(?=[\s,;:!?)|`]|\.?(?:\s|$))|\${2}[\w .-]+\${2}|(?<!\S)pass:[a-z,]*\[[^<>&"+${}\\[\]]*\]|`\+[^+\n<>&{}]*\+`/g;
/** A page, with the names of Antora in front of it, or a place. */
const plainReference =
  /^(?:(?:[\w.@$-]+:(?:[\w.@$-]*:)?)?(?!\/\/)[\w./$-]+(?:\.adoc)?(?:#[^"<>&\\]*)?|#?[^\s:<>"{}\\&]*)$/;
/** A name, an address without blanks, and a bracket. The bound keeps time linear. */
const macroCall = /(?<![a-z0-9/.:])([a-z]\w{0,30})(::?)([^ \t\n[\]:][^ \t\n[\]]{0,500})?\[([^\]\n]*)(\]?)/gi;
const passing = /\+\+|\$\$|(?:^|[^a-z0-9`])pass\s*:[^\s[\]]*\[/i;
/** A macro can also begin inside a word, its target may have blanks, and it may go on in the next line. */
const oddMacro =
  /[^\s[(|*_"'`<>#!;,-](?:link|mailto|xref|image|icon):[^:\s]|\b(?:link|mailto|xref|image|icon)::?[^[\]\n:]*"|\b(?:image|icon|video|audio)::?\S+ [^[\]]*\[|<<[^>]*["'][^>]*$|<<\s*(?:[^<>,]*["'{\\]|\w+:(?!\S*\.adoc))[^<>]*>>|\[[^[\]]*["'<][^[\]]*\](?=[#*_`^~+"']\S)/;

/** AsciiDoc: every line is live but those of a plain listing, in which includes and conditions still work. */
export function readAsciidoc(parts: Parts, text: string): void {
  const defined = new Set(
    [...text.matchAll(/(?:^|[|!\s]):!?([\w-]+)!?:/gm)].map(([, name = ""]) => name.toLowerCase()),
  );
  let [listing, attributes] = ["", ""];
  for (const { 0: line, index: at } of text.matchAll(/[^\n]+/g)) {
    const bare = line.trim();
    const odd = (shown = bare) =>
      parts.unknown("other", shown, at + Math.max(0, line.indexOf(shown)), "Builders may read this in different ways.");
    const ask = (key: string, find: string, shown = bare) =>
      parts.unknown("directive", shown, at, `No page of this site has the ${key}.`, { key, find });
    const raw = (shown: string) =>
      parts.unknown("expression", shown, at, "This may put its text into the page unread.", {
        ...(/<|^\s*\+{4}/.test(line) && listing === "" && { instead: forbidden.raw }),
      });
    const [, condition] = /^\s*\\?(ifdef|ifndef|ifeval|endif)::/.exec(line) ?? [];
    if (/\binclude\s*::/.test(line)) readIncludeLine(line, bare, at, odd);
    else if (condition) ask(`directive ${condition}`, `${condition}::`);
    if (listing !== "") {
      if (line.trimEnd() === listing) listing = "";
      else if (listing.startsWith("+")) parts.hosts(line, at, true);
      else if (/pass\s*:[^\s[\]]*\[|\+\+\+|\$\$[^$]*<.*\$\$/.test(line)) raw(behind(text, at, bare));
      else parts.sample(line, at);
      continue;
    }
    const [fence = ""] = /^(?:-{4,}|\.{4,}|`{3,})/.exec(line) ?? [];
    if (fence !== "" && (line.trimEnd() === fence || /^```[\w-]+$/.test(line.trimEnd()))) {
      // Where macros work, its text is live, and where it does not end, all of it is.
      const isPlain = !/subs\s*=|pass|stem|%/.test(attributes) && text.indexOf(`\n${fence}`, at + line.length) !== -1;
      if (isPlain) listing = fence;
      attributes = "";
      continue;
    }
    const quiet = line.replaceAll(inertQuote, "");
    if (/^\+{4,}$/.test(bare)) {
      raw(blockBelow(text, text.indexOf("+", at)));
      listing = bare;
      continue;
    }
    if (passing.test(quiet)) raw(behind(text, at, bare));
    if (/(?:stem|math|latexmath|asciimath)\s*:[^\s[\]]*\[/i.test(quiet)) ask("directive stem", "stem:");
    if (/^[,:!;]={3,}$/.test(bare)) ask("directive table", bare);
    if (/^\s*a[|!]|\bcols\s*=[^\]]*a|\|===.*a/.test(bare)) ask("directive a|", "a|");
    const hides = [...line.matchAll(/\[[^[\]]*\](?=[#*_`^~+"']\S)/g)].some(([role]) => hidingClass.test(role));
    if (/^```.*["'<]/.test(bare) || oddMacro.test(line) || hides) odd();
    for (const cell of new Set([bare, ...line.split(/[|!]/).map((one) => one.trim())])) readCell(cell, at);
    attributes = /^\[.*\]$/.test(bare) ? attributes + bare : bare === "" || /^\.[^\s.]/.test(bare) ? attributes : "";
    for (const { 0: whole, 1: name = "", index } of line.matchAll(
      /(?<!\\)\{((?:set|counter2?):[^{}\n]*|[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*)\}/gu,
    )) {
      const isApart =
        /(?:^|[\s([,"'`*_|!;>/.=#-]|(?:link|image)::?|\/\/\S*)$/.test(line.slice(0, index)) &&
        !/^(?:[.:@-]?[\w{]|\/\/|:)/.test(line.slice(index + whole.length));
      if (machine.test(name)) odd(whole);
      else if (!isApart || defined.has(name.toLowerCase())) ask(`attribute ${name}`, whole, whole);
    }
    // A line of ten thousand macros costs too much.
    for (const macro of [...line.matchAll(macroCall)].slice(0, 500)) readMacro(macro, at + macro.index, odd);
    parts.hosts(line.replaceAll(/\{[\w-]{1,60}\}/g, ""), at, false);
  }

  function readIncludeLine(line: string, bare: string, at: number, odd: () => void): void {
    const [whole, target = ""] =
      /^include::([^[\]\s]+)\[[^\]]*\]\s*$/.exec(line) ?? /include\s*::([^[\]]*)/.exec(bare) ?? [];
    const path = target.replace(/^(?:[\w.@-]+:){0,2}(?:partial|example|page|attachment|image)\$/, "");
    if (whole?.trimEnd() !== line.trimEnd() || (/\{/.test(path) && /\.\.|:\/\//.test(path))) odd();
    readInclude(parts, bare, path.replaceAll(/\{[\w-]+\}/g, "x"), at, "include::");
  }

  function readCell(cell: string, at: number): void {
    const [entry, name = "", value = ""] = /^:([^:\s][^:]*):(?:\s+(.*))?$/.exec(cell) ?? [];
    if (/^ur[il]-[\w-]+$/.test(name) && /^\S+$/.test(value)) return void parts.address(value, at, { text: cell });
    if (entry !== undefined && name !== "page-aliases") {
      const isPlain =
        /^[^<>\\+[\]"]*$/.test(value.replaceAll(inertQuote, "")) && !/\w:\S/.test(value.replaceAll(/\{[\w-]+\}/g, ""));
      if (!isPlain || !asciidocAttributes.test(name))
        parts.unknown("attribute", cell, at, `This defines ${name}.`, {
          ...(/^[\w .,{}()/-]*$/.test(value) && !machine.test(name) && { key: `attribute ${name}`, find: `:${name}:` }),
        });
    }
    if (!/^\[.*\]$/.test(cell) || /^\[\[[\w:.-]+(?:,[\w .-]+)?\]\]$/.test(cell)) return;
    if (/^\[(?:pass|[^\]]*subs\s*=[^\]]*(?:none|normal|-special|post|pass))/.test(cell))
      return void parts.unknown("directive", blockBelow(text, at), at, "This puts its text into the page unread.", {
        instead: forbidden.raw,
      });
    const [style = ""] = cell.slice(1, -1).split(",");
    const names = [...cell.matchAll(/(?<=[[,]\s*)([\w%-]+)\s*=/g)].map(([, one = ""]) => one);
    const isOdd =
      /[<>{}`\\]|["'][^,]*["'][^,\]]|^\[[^\]]*\].+/.test(cell.replaceAll(/\{[\w-]+\}(?!["'])/g, "")) ||
      hidingClass.test(cell) ||
      (/subs/.test(cell) &&
        !/subs\s*=\s*"?(?:\+?(?:quotes|attributes|macros|callouts|replacements)\+?,? ?)+"?/.test(cell));
    const isStyle = style.includes("=") || asciidocStyles.test(style.trim().replace(/[#.%].*$/, ""));
    if (isOdd) parts.unknown("attribute", blockBelow(text, at), at, "No page of this site has a block like this.");
    else if (!isStyle || !names.every((one) => asciidocOptions.test(one)))
      parts.unknown("attribute", cell, at, "No page of this site has a block like this.", {
        key: `directive ${style.replace(/[#.%=].*$/, "")}`,
        find: style,
      });
  }

  function readMacro(macro: RegExpExecArray, at: number, odd: (shown?: string) => void): void {
    const { 0: whole, 1: name = "", 2: colons = "", 3: target = "", 4: inner = "", 5: close } = macro;
    const isFile = /^(?:link|image|mailto|icon)$/.test(name);
    const unquoted = inner.replaceAll(/(?<=^|[,=]\s*)(?:"[^"]*"|'[^'"]*')(?=\s*(?:,|$))/g, "");
    if (
      /&#?\w+;|,\w+:/.test(target) ||
      /\b(?:link|image|xref|mailto|icon):\S*$|on\w+\s*=|subs\s*=|javascript|<|\\$|=\s*'[^']*$/i.test(inner) ||
      (close === "" ? isFile || inner.includes('"') : inner.split('"').length % 2 === 0) ||
      ((/^(?:image|icon)$/.test(name) || inner.includes("=")) && unquoted.includes('"'))
    )
      odd(whole);
    if (/^(?:include|pass|tag|end)$/.test(name)) return;
    const url = target.replace(/^\{[\w-]+\}(?=\/)/, "x").replaceAll(/(?<=\/\/[\w.:-]+\/.*)\{[\w-]+\}/g, "x");
    if (/^(?:https?|ftp|irc)$/i.test(name)) parts.address(`${name}:${url}`, at, { text: whole });
    else if (!asciidocMacros.has(name) || (colons === "::" && name !== "image"))
      parts.unknown("shortcode", whole, at, `No page of this site has the macro ${name}.`, {
        key: `shortcode ${name}`,
        find: `${name}:`,
      });
    else if (name === "mailto") parts.address(`mailto:${url}`, at, { text: whole });
    else if (isFile && name !== "icon") {
      if (/^\{[^}]*\}(?!\/)/.test(target)) odd(whole);
      if (!/^(?:[\w.@-]+:){1,2}(?:image\$)?[\w/-][\w/. -]*$/.test(target))
        parts.address(url, at, { loads: name === "image", text: whole });
    } else if (name === "xref" ? !plainReference.test(target) : /[:<>"]/.test(target)) odd(whole);
    for (const [, linked = ""] of inner.matchAll(/\bx?link\s*=\s*(".*?"|'.*?'|[^,]*)/g))
      parts.address(linked.replaceAll(/^["']|["']$/g, ""), at, { text: whole });
  }
}
