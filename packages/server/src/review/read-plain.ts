import {
  asciidocBlocks,
  asciidocCharacters,
  asciidocMacros,
  directiveOptions,
  directives,
  languages,
  roles,
} from "./content-table.ts";
import type { Parts } from "./page-parts.ts";

/** reStructuredText: every line is live. Active are explicit markup (`..`), fields, roles and link targets. */
export function readRst(parts: Parts, text: string): void {
  const lines = [...text.matchAll(/[^\n]*\n?/g)];
  for (const [index, { 0: line, index: at }] of lines.entries()) {
    const markup = /(?:^|[\s|*+-])\.\.(?=\s)(.*)$/.exec(line.trimEnd() + "\n".slice(line.length));
    if (markup) readExplicit(markup[1]?.trim() ?? "", line, at, lines[index + 1]?.[0] ?? "");
    const bare = line.trim();
    if (/^:[\w.-]+:(?:\s|$)/.test(bare) && !directiveOptions.test(bare)) {
      if (/^:target:\s+\S+$/.test(bare)) parts.address(bare.split(/\s+/)[1] ?? "", at);
      else if (!/^:(?:param|type|returns?|rtype|raises?|arg|keyword|ivar|var|vartype|meta|orphan)\b/.test(bare))
        parts.form(bare, at);
    }
    for (const { 0: whole, 1: role = "", index: offset } of line.matchAll(/:([^\s`]{1,60}):`/g))
      if (!roles.has(role)) parts.form(wordsFrom(line, offset, whole.length), at + offset);
    // A role can also stand behind its text.
    for (const { 1: role = "", index: offset } of line.matchAll(/`:([^\s`]{1,60}):(?!`)/g))
      if (!roles.has(role)) parts.form(line.trim(), at + offset);
  }
  for (const { 1: target = "", index } of text.matchAll(/<([^<>]{0,2000})>`/g)) {
    // A role's target is a name; a link's is an address.
    if (/^[\w.~!/-]+$/.test(target)) continue;
    if (/\s|\\/.test(target)) parts.form(`<${target}>`, index);
    else parts.address(target.replace(/_$/, ""), index);
  }
  parts.value(text.replaceAll(/``[^`\n]+``/g, " "), 0, { loads: false });
  for (const [code] of text.matchAll(/``[^`\n]+``/g)) parts.sample(code, 0);

  function readExplicit(markup: string, line: string, at: number, next: string): void {
    const [, name, value = ""] = /^([\w:.+-]+)::(?:\s+(.*))?$/.exec(markup) ?? [];
    const isPlainStart = /^\s*\.\. /.test(line);
    const [, target] = /^_(?:[\w .:-]+|`[^`]+`):(?:\s+(\S+))?$/.exec(markup) ?? [];
    if (isPlainStart && /^_(?:[\w .:-]+|`[^`<>\\]+`):/.test(markup) && !/^\s+\S/.test(next)) {
      if (target !== undefined) parts.address(target.replace(/_$/, ""), at);
      else if (!/:$/.test(markup)) parts.form(line.trim(), at);
    } else if (isPlainStart && name !== undefined && directives.has(name)) {
      if (name === "image" || name === "figure") parts.address(value, at, { loads: true });
      else if (/^(?:code|code-block|sourcecode|highlight|code-tab)$/.test(name)) {
        if (
          !/^$|^[\w+#.-]+(?:\s+[\w .-]+)?$/.test(value) ||
          (value && !languages.has(value.split(/\s/)[0]?.toLowerCase() ?? ""))
        )
          parts.form(line.trim(), at);
      } else if (/^(?:toctree|math)$/.test(name) && value !== "") parts.form(line.trim(), at);
    } else if (
      isPlainStart &&
      name !== undefined &&
      /^(?:include|literalinclude)$/.test(name) &&
      /^[\w./-]+$/.test(value)
    )
      parts.include(value, at);
    else if (isPlainStart && /^\|[^|]+\|\s+replace::\s+[^<>\\:|]*$/.test(markup)) return;
    else if (isPlainStart && /^(?:\[(?:#[\w-]*|\d+|\*|[\w-]+)\](?:\s|$))/.test(markup)) return;
    else if (isPlainStart && /^(?!_)[^:|<>`\\]*$/.test(markup) && markup !== "") return;
    else parts.form(line.trim(), at);
  }
}

function wordsFrom(line: string, offset: number, size: number): string {
  const close = line.indexOf("`", offset + size);
  return line.slice(offset, close === -1 ? undefined : close + 1).trimEnd();
}

/** AsciiDoc: every line is live, those of listings too, because includes work there. */
export function readAsciidoc(parts: Parts, text: string): void {
  const defined = new Set<string>();
  for (const { 0: line, index: at } of text.matchAll(/[^\n]+/g)) {
    const bare = line.trim();
    if (/\binclude\s*::|^\s*\\?(?:ifdef|ifndef|ifeval|endif)::/.test(line)) {
      const [, target] = /^include::([\w./$@:-]+)\[(?:tags?=[\w;*!-]*|leveloffset=\+?\d)?\]$/.exec(bare) ?? [];
      if (target && line === bare && !/^\w+:\/\//.test(target)) parts.include(target, at);
      else parts.form(bare, at);
    }
    const [, named, url = ""] = /^:(ur[il]-[\w-]+): +(\S+)$/.exec(line.trimEnd()) ?? [];
    if (named) {
      parts.address(url, at);
      defined.add(named);
    } else if (/^:!?[\w-]+!?:(?:\s|$)/.test(line)) {
      const [, name = "", value = ""] = /^:(!?[\w-]+!?):\s*(.*)$/.exec(line) ?? [];
      if (
        /^(?:description|keywords|page-[\w-]+|navtitle|author|email|revdate|revnumber|toc(?:levels|-title)?|sectnums|sectanchors|idprefix|idseparator|experimental|icons|source-language|title|[\w-]+-(?:caption|label|title|signifier))$/.test(
          name,
        ) &&
        /^[^<>{}\\+[\]]*$/.test(value)
      )
        continue;
      parts.form(bare, at);
    }
    // Targets of media may contain blanks.
    for (const { 0: whole, index } of line.matchAll(/\b(?:image|icon|video|audio)\s*::?[^[\n]*\[/gi))
      if (!/^(?:image|icon)::?[^\s[\]]+\[$/.test(whole)) parts.form(bare, at + index);
    if (
      /^\[/.test(bare) &&
      /\]$/.test(bare) &&
      !asciidocBlocks.test(bare) &&
      !/^\[\[[\w:.-]+(?:,[\w .-]+)?\]\]$/.test(bare)
    )
      parts.form(bare, at);
    if (/\+\+|\$\$|\bpass\s*:|\bstem\s*:|\b(?:latex|ascii)math\s*:|^\s*(?:a\||.*\|===.*a)/.test(line))
      parts.form(bare, at);
    // An address that the page defines, as far as it goes.
    for (const { 0: whole, 1: name = "", index } of line.matchAll(/\\?\{([\w:!.-]+)[^{}\n]*\}/g))
      if (!asciidocCharacters.has(name) && !(defined.has(name) && /^\{[\w-]+\}(?:[[/\s#)]|$)/.test(line.slice(index))))
        parts.form(whole, at + index);
    for (const { 0: whole, 1: name = "", 2: colons, 3: target = "", 4: rest = "", index } of line.matchAll(
      /(?<![\w/.])([a-z]\w*)(::?)([^\s[\]:][^\s[\]]*)?\[([^\]\n]*)/gi,
    )) {
      const isAddress = /^(?:https?|ftp|irc|mailto)$/i.test(name);
      if (isAddress) parts.address(`${name}:${target}`, at + index);
      else if (!asciidocMacros.has(name) || (colons === "::" && name !== "image")) parts.form(whole, at + index);
      else if (/^(?:link|image|mailto)$/.test(name)) parts.address(target, at + index, { loads: name === "image" });
      if (
        /\b(?:opts|options|subs|onclick|window)\s*=|javascript|<|\b(?:link|xlink)="?\w+script/i.test(rest) &&
        !/^[^"=]*(?:,?\s*(?:window|opts)="?_?\w+"?)?\^?$/.test(rest)
      )
        parts.form(whole + rest, at + index);
    }
  }
  parts.value(text.replaceAll(/`[^`\n]+`/g, " "), 0, { loads: false });
  for (const [code] of text.matchAll(/`[^`\n]+`/g)) parts.sample(code, 0);
}
