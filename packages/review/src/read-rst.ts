import type { Parts } from "./parts.ts";
import { readDirective, readOption, readRole } from "./read-lines.ts";
import { activeTex } from "./schema.ts";

/** Docutils finds literals only between these. */
const literal = /(?<![^\s(/-])``(?![\s"')\]}>])[^`\n]*[^`\s]``(?![^\s)\]}>'".,:;!?/-])/g;

/** reStructuredText: every line is live, because where a literal block ends depends on all before it. */
export function readRst(parts: Parts, text: string): void {
  const lines = [...text.matchAll(/[^\n]*\n?/g)];
  for (const [index, { 0: line, index: at }] of lines.entries()) {
    const bare = line.trim();
    const next = lines[index + 1]?.[0] ?? "";
    // An argument goes on in the lines below.
    const isWhole = !/^[ \t]+(?!:[\w-]+:(?:\s|$))\S/.test(next);
    const below = () => [bare, ...blockBelow(lines, index)].join("\n");
    // Markup can also begin behind list markers, in cells, and behind a directive's own name.
    const starts = [...line.matchAll(/(?<![^\s|*+-])(?:\.\.|__)(?=\s|$)/g)];
    if (starts.length === 1 && /^\s*(?:\.\.|__)(?: |\n|$)/.test(line)) readExplicit(bare, at, isWhole, below);
    else if (starts.length > 0) {
      const [, name] = /\.\. ([\w:.+-]+)::/.exec(line) ?? [];
      if (name) readDirective(parts, name, "", below(), at);
      parts.unknown("directive", below(), at, "Builders may begin a directive inside this line.");
    }
    if (activeTex.test(line)) parts.unknown("expression", bare, at, "This formula links, loads or defines.");
    for (const { 0: url, index: offset } of line
      .replaceAll(literal, "")
      .matchAll(/(?<![\w:-])(?:data|file|blob|filesystem|view-source|javascript|vbscript):[^\s:`]\S*/gi))
      parts.address(url, at + offset);
    const [, option = "", value = ""] = /^:([\w.-]+):(?:\s+(.*))?$/.exec(bare) ?? [];
    if (
      option !== "" &&
      !/^(?:param|type|returns?|rtype|raises?|arg|keyword|ivar|var|vartype|meta|orphan|author|date|status|version)$/i.test(
        option,
      )
    ) {
      readOption(parts, option, value, at);
      if (!isWhole && /^(?:target|link|file|url)/.test(option))
        parts.unknown("attribute", below(), at, "This address goes on in the next line.");
    }
    for (const { 0: whole, 1: role = "", index: offset } of line.matchAll(/:([^\s`:][^\s`]{0,60}?):`[^`\n]*(?:`|$)/g))
      readRole(parts, role, whole, at + offset);
    // A role can also stand behind its text.
    for (const { 0: whole, 1: role = "", index: offset } of line.matchAll(/`[^`\n]*`:([^\s`:][^\s`]{0,60}?):(?!`)/g))
      readRole(parts, role, whole, at + offset);
  }
  const live = text.replaceAll(literal, (code) => " ".repeat(code.length));
  for (const { 0: whole, 1: target = "", 2: mark, index } of live.matchAll(/<([^<>]*)>(`|[ \t]*$)/gm)) {
    // A role's target is a name; a link's is an address. Without the mark, only a table of contents has links.
    if (/^[\w.~!/-]+$/.test(target) && !/^\.\.\/(?:\.\.\/){3}/.test(target)) continue;
    if (mark !== "`" && !/^\s*(?:[\w\\+.-]+:|[/\\]{2})/.test(target)) continue;
    if (/\\/.test(target)) parts.unknown("other", whole, index, "Builders may read this address in different ways.");
    else parts.address(target.replaceAll(/\s/g, "").replace(/_$/, ""), index, { text: whole });
  }
  // An escape hides where an address begins or ends.
  for (const { 0: phrase, index } of live.matchAll(/`[^`<]*<[^`]*`/g))
    if (phrase.includes("\\"))
      parts.unknown("other", phrase, index, "Builders may read this address in different ways.");
  for (const { 0: line, index } of live.matchAll(/[^\n]+/g)) parts.hosts(line, index, false);
  parts.sample([...text.matchAll(literal)].map(([code]) => code).join(" "), 0);

  /** A block is known only behind the same line: behind another one it may be shown as code. */
  function previous(at: number): string {
    return /[^\n]*$/.exec(text.slice(0, at).trimEnd())?.[0] ?? "";
  }

  function readExplicit(line: string, at: number, isWhole: boolean, below: () => string): void {
    const markup = line.replace(/^__/, "_:").replace(/^\.\./, "").trim();
    const [, name = "", value = ""] = /^([\w:.+-]+)::(?:\s+(.*))?$/.exec(markup) ?? [];
    const [, substituted, substitution, picture = ""] =
      /^\|[^|<>\\]+\|\s+((replace|image|unicode|date))::\s*(.*)$/.exec(markup) ?? [];
    if (/^_(?:[\w .-]*(?::[\w.-]+)*|`[^`<>\\]+`):(?:\s|$)/.test(markup)) {
      const url =
        /^_(?:`[^`]*`|[^`:]*(?::[\w.-]+)*):\s*([\s\S]*)/.exec(
          `${markup}\n${below().split("\n").slice(1).join("\n").split(/^$/m, 1)[0]}`,
        )?.[1] ?? "";
      const joined = url.replaceAll(/\s/g, "");
      if (joined !== "") parts.address(joined.replace(/_$/, ""), at, { text: line });
    } else if (substitution !== undefined) {
      if (substituted === "image") parts.address(picture, at, { loads: true, text: line });
      if (substitution === "image" && !isWhole)
        parts.unknown("directive", below(), at, "This address goes on in the next line.");
    } else if (name !== "") {
      const kind = name.replace(/^(?:py|c|cpp|js|rst|std):/, "");
      if (!isWhole && /^(?:image|figure|include|literalinclude|math|toctree|raw)$/.test(kind) && value !== "")
        parts.unknown("directive", below(), at, "This directive's argument goes on in the next line.");
      readDirective(parts, kind, value, kind === "raw" ? `${previous(at)}\n${below()}` : line, at);
      if (/^(?:image|figure)$/.test(kind) && value === "")
        parts.unknown("directive", below(), at, "This directive's argument is in the next line.");
      if (/^(?:math|list-table|csv-table|parsed-literal)$/.test(kind) && /:(?:file|url):/.test(below()))
        parts.unknown("directive", below(), at, "This includes a file.");
    } else if (
      !/^\[(?:#[\w-]*|\d+|\*|[\w-]+)\](?:\s|$)/.test(markup) &&
      !/^(?![_[])(?:(?!::)[^|<>`\\])+$/.test(markup) &&
      !(markup === "" && isWhole)
    )
      parts.unknown("directive", below(), at, "Builders may read this markup in different ways.");
  }
}

/** The indented lines that follow. */
function blockBelow(lines: readonly RegExpExecArray[], index: number): string[] {
  const block: string[] = [];
  for (const [line] of lines.slice(index + 1, index + 201)) {
    if (/^\S/.test(line)) break;
    block.push(line.trimEnd());
  }
  while (block.at(-1) === "") block.pop();
  return block;
}
