import { forbidden } from "./forbidden.ts";
import type { Parts } from "./parts.ts";
import { readInclude } from "./read-lines.ts";
import { asciidocAttributes, asciidocMacros, asciidocOptions, asciidocStyles, hidingClass } from "./schema.ts";

/** AsciiDoc itself defines what names the building machine. Other names are the site's own, or characters. */
const machine =
  /^(?:doc(?:dir|file|filesuffix|name|title)|title|subtitle|author\w*|email\w*|(?:first|middle|last)name\w*|rev(?:number|date|remark)|out(?:dir|file|filesuffix)|user-home|asciidoctor[\w-]*|safe-mode[\w-]*|env[\w-]*|base-?dir|lt|gt|amp|startsb|endsb|file\w*|(?:icons|images|styles|scripts)dir|set:.*|counter2?:.*)$/i;
/** `C++`, or words that are passed: words stay words. */
const inertQuote =
  /(?<![^\s(|`])(?:\w+\+\+|\${2,})(?=[\s,;:!?)|`]|\.?(?:\s|$))|\${2}[\w .-]+\${2}|(?<!\S)pass:[a-z,]*\[[^<>&"+${}\\[\]]*\]|`\+[^+\n<>&{}]*\+`/g;
/** A page, with the names of Antora in front of it, or a place. */
const plainReference =
  /^(?:(?:[\w.@$-]+:(?:[\w.@$-]*:)?)?(?!\/\/)[\w./$-]+(?:\.adoc)?(?:#[^"<>&\\]*)?|#?[^\s:<>"{}\\&]*)$/;
/** A name, an address without blanks, and a bracket. The bound keeps time linear. */
const macroCall = /(?<![a-z0-9/.:])([a-z]\w{0,30})(::?)([^ \t\n[\]:][^ \t\n[\]]{0,500})?\[([^\]\n]*)(\]?)/gi;

/** AsciiDoc: every line is live but those of a plain listing, in which includes and conditions still work. */
export function readAsciidoc(parts: Parts, text: string): void {
  const defined = new Set(
    [...text.matchAll(/(?:^|[|!\s]):!?([\w-]+)!?:/gm)].map(([, name = ""]) => name.toLowerCase()),
  );
  const odd = "Builders may read this line in different ways.";
  let listing = "";
  let attributes = "";
  for (const { 0: line, index: at } of text.matchAll(/[^\n]+/g)) {
    const bare = line.trim();
    const ask = (reason: string, key: string | null = null, shown = bare, find = key ?? bare) =>
      parts.unknown("directive", shown, at + Math.max(0, line.indexOf(shown)), reason, {
        key,
        find: key === null ? shown : find,
      });
    if (/\binclude\s*::/.test(line)) readIncludeLine(bare, line, at);
    else if (/^\s*\\?(?:ifdef|ifndef|ifeval|endif)::/.test(line))
      ask(odd, `directive ${/\w+(?=::)/.exec(bare)?.[0]}`, bare, `${/\w+(?=::)/.exec(bare)?.[0]}::`);
    const [fence = ""] = /^(?:-{4,}|\.{4,}|`{3,})/.exec(line) ?? [];
    if (listing !== "") {
      if (line.trimEnd() === listing) listing = "";
      else if (/pass\s*:[^\s[\]]*\[|\+\+\+|\$\$[^$]*<.*\$\$/.test(line))
        parts.unknown("expression", behind(bare, at), at, "This may put its text into the page unread.");
      else parts.sample(line, at);
      continue;
    }
    if (fence !== "" && (line.trimEnd() === fence || /^```[\w-]+$/.test(line.trimEnd()))) {
      // Where macros work, its text is live, and where it does not end, all of it is.
      const isPlain = !/subs\s*=|pass|stem|%/.test(attributes) && text.indexOf(`\n${fence}`, at + line.length) !== -1;
      if (isPlain) listing = fence;
      attributes = "";
      continue;
    }
    if (/^```/.test(bare) && /["'<]/.test(bare)) ask(odd);
    if (/^[,:!;]={3,}$/.test(bare)) ask("Cells may hold whole documents.", "directive table");
    if (/^\+{4,}$/.test(bare))
      parts.unknown("directive", blockAt(text, at, bare), at, "This puts its text into the page unread.", {
        instead: forbidden.raw,
      });
    const quiet = line.replaceAll(inertQuote, "");
    if (/\+\+|\$\$|(?:^|[^a-z0-9`])pass\s*:[^\s[\]]*\[/i.test(quiet))
      parts.unknown(
        "expression",
        behind(bare, at),
        at,
        "This may put its text into the page unread.",
        /</.test(line) ? { instead: forbidden.raw } : {},
      );
    if (/(?:stem|math|latexmath|asciimath)\s*:[^\s[\]]*\[/i.test(quiet))
      ask("No page of this site has formulas.", "directive stem", bare, "stem:");
    for (const cell of new Set([bare, ...line.split(/[|!]/).map((one) => one.trim())])) readCell(cell, at);
    if (
      /^\s*a[|!]|\bcols\s*=[^\]]*a/.test(line) ||
      (line.includes("|===") && line.lastIndexOf("a") > line.indexOf("|==="))
    )
      ask("Cells may hold whole documents.", "directive a|", bare, "a|");
    attributes = /^\[.*\]$/.test(bare) ? attributes + bare : bare === "" || /^\.[^\s.]/.test(bare) ? attributes : "";
    readReferences(line, at);
    readMacros(line, at);
    parts.hosts(line.replaceAll(/\{[\w-]{1,60}\}/g, ""), at, false);
  }

  /** A line is known only behind the same line: behind another one it may be shown as code. */
  function behind(line: string, at: number): string {
    return `${/[^\n]*$/.exec(text.slice(0, at).trimEnd())?.[0] ?? ""}\n${line}`;
  }

  function readIncludeLine(bare: string, line: string, at: number): void {
    const [, target] = /^include::([^[\]\s]+)\[[^\]]*\]$/.exec(bare) ?? [];
    if (target === undefined || line.trimEnd() !== bare)
      parts.unknown("directive", bare, at, "Builders may include a file here.");
    const path = (target ?? /include\s*::([^[\]]*)/.exec(bare)?.[1] ?? "").replace(
      /^(?:[\w.@-]+:){0,2}(?:partial|example|page|attachment|image)\$/,
      "",
    );
    readInclude(parts, bare, path.replaceAll(/\{[\w-]+\}/g, "x"), at, "include::");
    if (/\{/.test(path) && /\.\.|:\/\//.test(path))
      parts.unknown("directive", bare, at, "This includes a file from a place that the page names.");
  }

  function readCell(cell: string, at: number): void {
    const [entry, name = "", value = ""] = /^:([^:\s][^:]*):(?:\s+(.*))?$/.exec(cell) ?? [];
    if (/^ur[il]-[\w-]+$/.test(name) && /^\S+$/.test(value)) parts.address(value, at, { text: cell });
    else if (entry !== undefined) {
      const isPlain =
        asciidocAttributes.test(name) &&
        /^[^<>\\+[\]"]*$/.test(value.replaceAll(inertQuote, "")) &&
        !/\w:\S/.test(value.replaceAll(/\{[\w-]+\}/g, ""));
      if (!isPlain && name !== "page-aliases")
        parts.unknown(
          "attribute",
          cell,
          at,
          `This defines ${name}.`,
          /^[\w .,{}()/-]*$/.test(value) && !machine.test(name) ? { key: `attribute ${name}`, find: `:${name}:` } : {},
        );
    }
    if (!/^\[.*\]$/.test(cell) || /^\[\[[\w:.-]+(?:,[\w .-]+)?\]\]$/.test(cell)) return;
    if (
      /^\[(?:pass|stem|latexmath|asciimath|[^,\]]*subs\s*=)/.test(cell) &&
      /pass|subs=[^\]]*(?:none|normal|-special|post)/.test(cell)
    )
      return void parts.unknown("directive", blockAt(text, at, cell), at, "This puts its text into the page unread.", {
        instead: forbidden.raw,
      });
    const [style = "", ...others] = cell
      .slice(1, -1)
      .split(/,(?=(?:[^"]*"[^"]*")*[^"]*$)/)
      .map((one) => one.trim());
    const names = others
      .concat(style.includes("=") ? [style] : [])
      .flatMap((one) => /^([\w%-]+)\s*=/.exec(one)?.[1] ?? []);
    const isPlainStyle = style.includes("=") || asciidocStyles.test(style.replace(/[#.%].*$/, ""));
    const isOdd =
      /[<>{}`\\]|["'][^,]*["'][^,\]]|^\[[^\]]*\].+/.test(cell.replaceAll(/\{[\w-]+\}(?!["'])/g, "")) ||
      hidingClass.test(cell);
    const isSubs =
      /subs\s*=\s*"?(?:\+?(?:quotes|attributes|macros|callouts|replacements)\+?,? ?)+"?/.test(cell) ||
      !/subs/.test(cell);
    if (isPlainStyle && names.every((one) => asciidocOptions.test(one)) && !isOdd && isSubs) return;
    parts.unknown(
      "attribute",
      isOdd || !isSubs ? blockAt(text, at, cell) : cell,
      at,
      "No page of this site has a block like this.",
      isOdd || !isSubs ? {} : { key: `directive ${style.replace(/[#.%=].*$/, "")}`, find: style },
    );
  }

  function readReferences(line: string, at: number): void {
    for (const { 0: whole, 1: name = "", index } of line.matchAll(
      /(?<!\\)\{((?:set|counter2?):[^{}\n]*|[\p{L}\p{N}_][\p{L}\p{M}\p{N}_-]*)\}/gu,
    )) {
      const [before, after] = [line.slice(0, index), line.slice(index + whole.length)];
      const isApart =
        /(?:^|[\s([,"'`*_|!;>/.=#-]|(?:link|image)::?|\/\/\S*)$/.test(before) &&
        !/^(?:[.:@-]?[\w{]|\/\/|:)/.test(after);
      if (machine.test(name))
        parts.unknown("expression", whole, at + index, "This names or reads what the building machine has.");
      else if (!isApart || defined.has(name.toLowerCase()))
        parts.unknown("expression", whole, at + index, `This page puts ${name} together.`, {
          key: `attribute ${name}`,
          find: whole,
        });
    }
    if (/<<[^>]*$/.test(line) && /["']/.test(line)) parts.unknown("other", line.trim(), at, odd);
    for (const { 0: whole, 1: target = "", index } of line.matchAll(/<<([^<>]*)>>/g))
      if (/["'{\\]|^\s*\w+:(?!\S*\.adoc)/.test(target.split(",")[0] ?? ""))
        parts.unknown("other", whole, at + index, odd);
    for (const { 0: role, index } of line.matchAll(/\[[^[\]]*\](?=[#*_`^~+"']\S)/g))
      if (/["'<]/.test(role) || hidingClass.test(role)) parts.unknown("attribute", role, at + index, odd);
  }

  function readMacros(line: string, at: number): void {
    // A macro can also begin inside a word, its target may have blanks, and it may go on in the next line.
    const isOdd =
      /[^\s[(|*_"'`<>#!;,-](?:link|mailto|xref|image|icon):[^:\s]|\b(?:link|mailto|xref|image|icon)::?[^[\]\n:]*"/.test(
        line,
      ) || /\b(?:image|icon|video|audio)::?\S+ [^[\]]*\[/.test(line);
    if (isOdd) parts.unknown("other", line.trim(), at, odd);
    let count = 0;
    for (const {
      0: whole,
      1: name = "",
      2: colons = "",
      3: target = "",
      4: inner = "",
      5: close,
      index,
    } of line.matchAll(macroCall)) {
      count += 1;
      if (count > 500) break;
      if (/&#?\w+;|,\w+:/.test(target) || close === "" || /\b(?:link|image|xref|mailto|icon):\S*$/.test(inner))
        parts.unknown("other", whole, at + index, odd);
      if (name === "include" || name === "pass" || /^(?:tag|end)$/.test(name)) continue;
      if (/^\{[^}]*\}(?!\/)/.test(target) && /^(?:link|image)$/.test(name))
        parts.unknown("other", whole, at + index, odd);
      const url = target.replace(/^\{[\w-]+\}(?=\/)/, "x").replaceAll(/(?<=\/\/[\w.:-]+\/.*)\{[\w-]+\}/g, "x");
      if (/^(?:https?|ftp|irc|mailto)$/i.test(name)) parts.address(`${name}:${url}`, at + index, { text: whole });
      else if (!asciidocMacros.has(name) || (colons === "::" && name !== "image"))
        parts.unknown("shortcode", whole, at + index, `No page of this site has the macro ${name}.`, {
          key: `shortcode ${name}`,
          find: `${name}:`,
        });
      else if (/^(?:link|image|mailto)$/.test(name) && !/^(?:[\w.@-]+:){1,2}(?:image\$)?[\w/-][\w/. -]*$/.test(target))
        parts.address(name === "mailto" ? `mailto:${url}` : url, at + index, { loads: name === "image", text: whole });
      else if (!/^(?:link|image|mailto|xref)$/.test(name) && /[:<>"]/.test(target))
        parts.unknown("other", whole, at + index, odd);
      else if (name === "xref" && !plainReference.test(target)) parts.unknown("other", whole, at + index, odd);
      const unquoted = inner.replaceAll(/(?<=^|[,=]\s*)(?:"[^"]*"|'[^'"]*')(?=\s*(?:,|$))/g, "");
      const isList = /^(?:image|icon)$/.test(name) || inner.includes("=");
      if (
        /on\w+\s*=|subs\s*=|javascript|</i.test(inner) ||
        /\\$|=\s*'[^']*$/.test(inner) ||
        (inner.split('"').length % 2 === 0 && close === "]") ||
        (isList && unquoted.includes('"')) ||
        (close === "" && inner.includes('"'))
      )
        parts.unknown("other", whole, at + index, odd);
      for (const [, linked = ""] of inner.matchAll(/\bx?link\s*=\s*(".*?"|'.*?'|[^,]*)/g))
        parts.address(linked.replaceAll(/^["']|["']$/g, ""), at + index, { text: whole });
    }
  }
}

/** A passthrough with its text: up to its end, or the next blank line. */
function blockAt(text: string, at: number, line: string): string {
  if (!/^(?:\+{4,}|\[.*\])$/.test(line)) return line;
  const body = text.slice(at + line.length, at + line.length + 5_000);
  const end = line.startsWith("+") ? body.indexOf(`\n${line}`, 1) : body.search(/\n[ \t]*\n/);
  return line + (end === -1 ? body : body.slice(0, end));
}
