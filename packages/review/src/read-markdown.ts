import { decodeHTML } from "entities";
import {
  actingElements,
  addressAttributes,
  attributes,
  blockElements,
  blockMarker,
  braceForms,
  comments,
  directiveOptions,
  elements,
  expressionForms,
  frameworkModules,
  hidingClass,
  importable,
  includeForms,
  moduleForm,
  rawElements,
  roles,
  rootPicture,
  templateForms,
  unsupported,
  valueForms,
  wordyComment,
} from "./content-table.ts";
import { type Fence, findFence } from "./markdown-fences.ts";
import type { Flavor } from "./markdown-flavors.ts";
import {
  closingTag,
  fenceStart,
  hasPlainSpans,
  isFence,
  lineAt,
  referencesIn,
  spanAt,
  startOf,
  templateEnd,
  withoutSpans,
  wordAt,
} from "./markdown-spans.ts";
import { type Parts, shiftedBy } from "./page-parts.ts";
import {
  braceEnds,
  isLiteralExpression,
  isPlainInfo,
  isPlainReference,
  isPlainValue,
  readPlainTag,
  type Tag,
  withoutNames,
} from "./plain-forms.ts";
import { activeTex, directiveLine, isApart, isPlainDirective, isPlainMarker } from "./read-plain.ts";

/**
 * Reads Markdown and MDX line by line and collects every construct that is not in the table of content. It trusts code
 * to be inert only where all parsers agree. After the first fence on which they may not, all lines count as live.
 */
export function readMarkdown(parts: Parts, text: string, from: number, flavor: Flavor): void {
  const isLiquid = flavor.html === "raw" && !flavor.vue;
  let at = from;
  let isTrusted = true;
  /** HTML elements that are open: there, some parsers read Markdown and others do not. */
  const open: string[] = [];
  const uses = referencesIn(text);
  const hasNamedPictures = /!\[[^\]\n]*\](?!\()/.test(text);
  const braceEnd = braceEnds(text);
  /** Components that the page imports from other pages. */
  const imported = new Set<string>();
  /** Where the last line ends that was told as a whole. */
  let refusedTo = -1;
  /** Where the last chunk ended, if it has HTML: a fence right behind it may be part of that. */
  let htmlEnd = -1;

  while (at < text.length) {
    const line = lineAt(text, at);
    if (line.trim() === "") {
      at += line.length + 1;
      continue;
    }
    const fence = isTrusted ? findFence({ text, flavor, isInHtml: open.length > 0, htmlEnd }, at) : null;
    if (fence === "odd") isTrusted = false;
    if (fence !== null && fence !== "odd") {
      readFence(fence, at);
      at = fence.end;
      continue;
    }
    at = readChunk(at, chunkEnd(at, isTrusted));
  }

  /** Up to the next blank line or fence, or item of the same list. */
  function chunkEnd(start: number, stopsAtFence: boolean): number {
    let end = start;
    const [item = "\n"] = /^[-*+][ \t]/.exec(lineAt(text, start)) ?? [];
    while (end < text.length) {
      const line = lineAt(text, end);
      if (line.trim() === "" || (end > start && (line.startsWith(item) || (stopsAtFence && isFence(line))))) break;
      end += line.length + 1;
    }
    return Math.min(end, text.length);
  }

  function readFence({ body, close, info }: Fence, start: number): void {
    const code = text.slice(body, close);
    const [, directive, argument = ""] = directiveLine.exec(info.trim()) ?? [];
    if (directive && directive !== "math" && isPlainDirective(directive, argument)) {
      readDirective(directive, argument, code, body);
      return;
    }
    if (!isPlainInfo(info, code, flavor.labels))
      parts.form(text.slice(start, close).replaceAll(/^[ \t]+/gm, ""), start);
    parts.value(info, start);
    parts.sample(code, body);
    readInsideCode(code, body);
  }

  function readDirective(name: string, argument: string, written: string, at: number): void {
    const [options = ""] = /^(?:[ \t]*:[\w-]+:[^\n]*\n)*/.exec(written) ?? [];
    for (const line of options.split("\n")) readOption(line, at);
    const body = written.slice(options.length);
    // Options can also be YAML.
    if (/^\s*---/.test(body) || !hasPlainSpans(argument, "raw"))
      parts.form(`${argument}\n${body}`, at, argument || body);
    else if (/^(?:code|code-block|sourcecode|code-tab)$/.test(name)) parts.sample(body, at);
    else if (name === "toctree") parts.form(body, at);
    else readMarkdown(shiftedBy(at + options.length - argument.length - 2, parts), `${argument}\n\n${body}`, 0, flavor);
  }

  function readOption(line: string, at: number): void {
    const [, link] = /^[ \t]*:(?:link|img-\w+):[ \t]+(\S+)[ \t]*$/.exec(line) ?? [];
    if (link !== undefined) parts.address(link, at, { loads: !line.includes(":link:") });
    else if (line.trim() !== "" && !directiveOptions.test(line.trim())) parts.form(line.trim(), at);
    else readMarkdown(shiftedBy(at, parts), line.trim().replace(/^:[\w-]+:/, ""), 0, flavor);
  }

  function readInsideCode(code: string, offset: number): void {
    if (flavor.insideCode === null) return;
    for (const { 0: whole, index } of code.matchAll(flavor.insideCode))
      if (![...templateForms, ...valueForms].some((form) => form.test(whole))) parts.form(whole, offset + index);
  }

  /** Reads live text. A construct may end behind the chunk. Returns where to go on. */
  function readChunk(start: number, end: number): number {
    const chunk = text.slice(start, end);
    if (flavor.mdx && /^(?:import|export)\b/.test(chunk)) {
      readModules(chunk, start);
      return end;
    }
    // In CommonMark a comment ends with its line, and a fence may follow.
    const live = flavor.html === "commonmark" ? chunk.replaceAll(/^<!-- [^<>\n]* -->[ \t]*$/gm, "") : chunk;
    const hasHtml =
      !flavor.mdx &&
      (flavor.html === "raw"
        ? /<[a-z/!?]/i.test(hasPlainSpans(live, "raw") ? withoutSpans(live) : live)
        : /^(?:[ \t>*+:-]|\d{1,9}[.)]|\[\^[^\]\n]+\]:)*<[a-z/!?]/im.test(live));
    if (hasHtml) htmlEnd = end;
    const isInside = open.length > 0 && flavor.html !== "commonmark";
    const spans = isTrusted && !isInside && !hasHtml && hasPlainSpans(chunk, flavor.html);
    let rest = "";
    let cursor = start;
    const active = /[`<{&\\]|\](?=[(:])/g;
    let [inOptions, inYaml] = [false, false];
    for (const { 0: line, index } of chunk.matchAll(/[^\n]+/g)) {
      readLineStart(line, start + index);
      if (inOptions && /^\s*---/.test(line)) parts.form(chunk.slice(index), start + index);
      // Indented lines below this marker are YAML.
      if (inYaml && /^\s/.test(line) && !/^\s+(?:open|type|new|select): [\w-]+$/.test(line))
        parts.form(line, start + index);
      inYaml = /^[ \t]*\/{3,}[ \t]*\w/.test(line) || (inYaml && /^\s/.test(line));
      inOptions = /^[\s>*+-]*:{3,}\{/.test(line) || (inOptions && /^\s*:[\w-]+:/.test(line));
      if (inOptions && /^\s*:\w/.test(line)) readOption(line, start + index);
    }
    while (cursor < end) {
      active.lastIndex = cursor - start;
      const next = start + (active.exec(chunk)?.index ?? chunk.length);
      rest += text.slice(cursor, Math.min(next, end));
      if (next >= end) break;
      const stop = readActive(next, end, spans);
      // A construct is a word's end: what is left and right of it is no address. A reference is its character.
      rest += stop === next ? text[next] : text[next] === "&" ? decodeHTML(text.slice(next, stop)) : " ";
      cursor = Math.max(stop, next + 1);
    }
    parts.value(rest, start, { loads: false });
    return Math.max(end, cursor);
  }

  /** Where the construct at this place ends; the place itself if it is plain text. */
  function readActive(at: number, end: number, spans: boolean): number {
    switch (text[at]) {
      case "`": {
        const [whole = "", marks = "", code = ""] = (spans && spanAt(text, at)) || [];
        parts.sample(code, at);
        readInsideCode(code, at + marks.length);
        // Vue's titles and tables of contents show code as it is written.
        if (flavor.vue && (code.includes("{{") || (isTitleAt(at) && code.includes("<")))) parts.form(whole, at);
        return at + (whole || (/`*/.exec(text.slice(at, at + 1_000))?.[0] ?? "")).length;
      }
      case "\\":
        return spans && !isTitleAt(at) && flavor.escapable.includes(text[at + 1] ?? "\n") ? at + 2 : at;
      case "&":
        return readReference(at);
      case "]":
        return readDestination(at, end);
      case "{":
        return readBrace(at, end);
      default:
        return readTag(at, end);
    }
  }

  /** Vue's titles of blocks are read as they are written. */
  function isTitleAt(at: number): boolean {
    return flavor.vue && /^[\s>]*(?:\[!|:{3})/.test(lineAt(text, startOf(text, at)));
  }

  function readReference(at: number): number {
    const [whole] = /^&#?\w+;/.exec(text.slice(at, at + 40)) ?? [];
    if (whole === undefined) return at;
    if (!isPlainReference(whole, flavor.vue ? "{}" : "")) parts.form(wordAt(text, at), at);
    return at + whole.length;
  }

  /** `](address "title")` or, at a line's start, `[name]: address`. */
  function readDestination(at: number, end: number): number {
    const isLink = text[at + 1] === "(";
    const lineStart = startOf(text, at);
    const [, name] = isLink
      ? []
      : (/^[\s>*+:\d.)-]*\[((?!\^)[^[\]\n]+)$/.exec(text.slice(lineStart, Math.min(at, lineStart + 1_000))) ?? []);
    if (!isLink && name === undefined) {
      // A definition with an odd label, or behind another construct. Links and scripts in it are found as text.
      const [, target = ""] = /^\]:\s*(<[^>]*|\S*)/.exec(text.slice(at, at + 2_000)) ?? [];
      if (/\.\.|[&\\]/.test(target)) parts.form(lineAt(text, lineStart) + target, lineStart, lineAt(text, lineStart));
      return at;
    }
    const pattern = isLink
      ? /\]\([ \t]*(?:<([^<>\n]*)>|((?:\{\{[^{}\n]*\}\}|\{%[^{}\n]*%\}|[^\s()<>{}]|\([^\s()<>{}]*\))*))(?=[ \t]*\)|[ \t\n]+["'(])/y
      : /\]:[ \t]*(?:\n[ \t]+)?(?:<([^<>\n]*)>|((?:\{\{[^{}\n]*\}\}|\{%[^{}\n]*%\}|[^\s<>{}])+))(?=[ \t]*(?:\n|$)|[ \t]+["'({])/y;
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (match === null) {
      const line = lineAt(text.slice(at, Math.min(end, at + 1_000)), 0);
      // `a[0](b c)` is no link: spaces end a destination. Without an end in its line it may be one.
      if (!isLink || !/^\]\([^()<>{}\\&:\t]*\)/.test(line)) {
        // The whole line, however long, and only once.
        if (at > refusedTo) {
          const from = text.lastIndexOf("\n", at) + 1;
          const whole = lineAt(text, from);
          parts.form(whole, from);
          refusedTo = from + whole.length;
        }
      }
      return at;
    }
    // Some parsers drop the blanks at its ends.
    const spelled = match[1]?.replaceAll(/(?<=\S) (?=\S)/g, "%20") ?? match[2] ?? "";
    // Behind the host, an escaped mark changes nothing.
    const written = /^https?:\/\/[\w.-]+\//.test(spelled) ? spelled.replaceAll(/\\(?=[_*&~])/g, "") : spelled;
    const url = withoutValues(written, at);
    const kind = name !== undefined && !(uses.get(name.toLowerCase()) ?? 0) ? "unused" : "link";
    const before = text.slice(Math.max(lineStart, at - 300), at);
    // A definition may be that of a picture.
    const loads = isLink ? /!\[(?:(?!\]\().)*$/.test(before) : hasNamedPictures;
    readAddress(url, at, { kind, loads });
    return at + match[0].length;
  }

  /** Without the templates in an address. */
  function withoutValues(written: string, at: number): string {
    return written.replaceAll(/(?:\{\{[^{}]*\}\}|\{%[^{}]*%\})+/g, (run, offset: number) => {
      const isValue =
        !flavor.mdx && run.split(/(?<=\})(?=\{)/).every((tag) => valueForms.some((form) => form.test(tag)));
      if (!isValue || !isApart(written, offset, run)) parts.form(`(${isValue ? written : run})`, at, run);
      return "";
    });
  }

  /** Vite looks for what begins with a slash in the site, and then on the whole machine. */
  function readAddress(url: string, at: number, options: { kind?: "unused" | "link"; loads: boolean }): void {
    const isOfRoot = flavor.vue && options.loads && /^\/(?!\/)/.test(url);
    if (isOfRoot && !rootPicture.test(url)) parts.form(`(${url})`, at, url);
    else parts.address(url, at, options);
  }

  function readBrace(at: number, end: number): number {
    const [forms, stop] = flavor.mdx
      ? [expressionForms, braceEnd(at)]
      : [[...braceForms, ...templateForms], templateEnd(text, at, end)];
    if (stop === -1) {
      // An attribute list goes on behind a blank line.
      if (!flavor.mdx && text[at + 1] === ":") parts.form(lineAt(text, startOf(text, at)), at);
      return at;
    }
    const whole = text.slice(at, stop);
    // MyST reads `{name}` before a span of code as a role.
    if (text[stop] === "`" && !roles.has(whole.slice(1, -1))) {
      parts.form(whole + lineAt(text, stop), at);
      return stop;
    }
    const isPlain =
      (flavor.braces?.test(whole) && !isAttributeList(at, stop)) ||
      (!flavor.mdx &&
        valueForms.some((form) => form.test(whole)) &&
        isApart(lineAt(text, startOf(text, at)), at - startOf(text, at), whole));
    // Vue reads `:title` as code, and most parsers find a link first.
    if (
      (flavor.vue && whole.startsWith("{:")) ||
      whole.includes("](") ||
      (isAttributeList(at, stop) && hidingClass.test(whole))
    )
      parts.form(whole, at);
    if (!isPlain && !forms.some((form) => form.test(whole)) && !(flavor.mdx && isLiteralExpression(whole))) {
      // Plain words may differ from those of another page.
      const [, name] = /^\{\{[<%] *([\w-]+)(?: +(?:\w+=)?"[\w ?!,-]*")+ *[%>]\}\}$/.exec(whole) ?? [];
      parts.form(name ? whole.replaceAll(/"[\w ?!,-]*"/g, '""') : whole, at, name ?? whole);
    } else if (!whole.startsWith("{/*")) parts.value(whole, at);
    return stop;
  }

  /** Python-Markdown reads them right behind a construct, and at the end of a line or a cell. */
  function isAttributeList(at: number, stop: number): boolean {
    if (flavor.html === "commonmark" || text[at + 1] === "\\") return false;
    const isLast = /^[ \t#]*(?:\||$)/.test(lineAt(text, stop));
    return /[)\]*_`>~^=]/.test(text[at - 1] ?? "") || (isLast && /\s/.test(text[at - 1] ?? "\n"));
  }

  function readTag(at: number, end: number): number {
    const head = text.slice(at, at + 300);
    if (!/^<[\p{L}/!?%$_>]/u.test(head)) return at;
    const auto = /^<((?:https?:\/\/|mailto:)[^\s<>]*|[\w.+-]+@[\w.-]+)>/i.exec(head);
    if (auto) {
      parts.address(/^\w+:/.test(auto[1] ?? "") ? (auto[1] ?? "") : `mailto:${auto[1]}`, at);
      return at + auto[0].length;
    }
    if (head.startsWith("<!--")) {
      const close = text.indexOf("-->", at + 4);
      const stop = close === -1 ? text.length : close + 3;
      const whole = text.slice(at, stop);
      if (!flavor.mdx && close !== -1 && wordyComment.test(whole) && !/[`~]|\[\[\[/.test(whole)) return at + 4;
      // In the middle of a line, or over a blank line, some parsers find no comment.
      const isOne = !whole.includes("\n") || (startOf(text, at) === at && !/\n\s*\n/.test(whole));
      if (!comments.test(whole) || !isOne) parts.form(whole, at);
      return stop;
    }
    const tag = readPlainTag(text, at, flavor.mdx ? braceEnd : null);
    const name = tag?.name ?? /^<\/?([\w.:-]+)/.exec(head)?.[1] ?? "";
    if (tag === null || rawElements.test(name)) {
      // Its content is not read as the page's: the construct goes on to the closing tag.
      const isOpen = rawElements.test(name) && head[1] !== "/" && !tag?.isClosed;
      const stop = isOpen ? closingTag(text, at, name) : (tag?.end ?? (text.indexOf(">", at) + 1 || end));
      parts.form(text.slice(at, stop), at);
      return stop;
    }
    // Where a link or the tag itself ends is read differently.
    const written = text.slice(at, tag.end);
    if (tag.end > end || /\][(:[]/.test(written)) parts.form(written, at);
    readAttributes(tag, at);
    // Where films and sounds work, nobody sees the text inside.
    if (/^(?:audio|video)$/.test(name) && !tag.isEnd && !tag.isClosed) {
      const [inside = ""] = text.slice(tag.end, tag.end + 2_000).split(`</${name}>`, 1);
      if (!unsupported.test(inside.replaceAll(/<[^<>]*>/g, "").trim())) parts.form(inside, tag.end);
    }
    const isBlock = blockElements.test(name) && /^[ \t]*$/.test(text.slice(startOf(text, at), at).slice(0, 9));
    if (!tag.isEnd && !tag.isClosed && isBlock) open.push(name);
    else if (tag.isEnd && open.includes(name)) open.length = open.lastIndexOf(name);
    return tag.end;
  }

  function readAttributes({ name, given, end }: Tag, at: number): void {
    const isComponent = /^[A-Z]|[.-]/.test(name);
    const isNothing = flavor.unknownElements && given.length === 0 && !actingElements.test(name);
    if (!elements.has(name) && !imported.has(name) && !isNothing) {
      if (!isComponent) return void parts.form(text.slice(at, end), at);
      parts.form(`<${name}>`, at, name);
    }
    for (const { name: key, value: written } of given) {
      const value = isLiquid && addressAttributes.has(key) ? withoutValues(written, at) : written;
      const isLiteral = value.startsWith("{")
        ? flavor.mdx && isLiteralExpression(value)
        : isPlainValue(value, flavor.mdx, flavor.html === "commonmark");
      // Scripts of themes read elements whose ids begin like this.
      const isOwnId = key === "id" && /^_/.test(value);
      // Elements with a name hide the document's own functions.
      const isClobbering = key === "name" && !isComponent && name !== "a";
      const isHiding = (key === "class" || key === "className") && hidingClass.test(value);
      if (isClobbering || isHiding) parts.form(`<${name} ${key}=${value}>`, at, `<${name}`);
      else if (isLiteral && addressAttributes.has(key))
        readAddress(value.replace(/^\{\s*["'`]|["'`]\s*\}$/g, "").replaceAll(/(?<=\S) (?=[\w(])/g, "%20"), at, {
          loads: !/^(?:href|to|cite|url|link)$/.test(key),
        });
      else if (isLiteral && attributes.has(key) && !isOwnId) parts.value(value, at);
      else if (
        isLiteral &&
        isComponent &&
        /^(?!on[A-Z]|is$|as$)[a-z][\w]*$/i.test(key) &&
        !/html|code|script|style|component|render|class|src/i.test(key)
      ) {
        parts.form(`<${name} ${key}>`, at, `<${name}`);
        parts.value(value, at);
      } else if (isLiteral && /^data-[a-z]+$/.test(key) && /^[\w ./-]*$/.test(value))
        parts.form(`<${name} ${key}>`, at, key);
      else parts.form(`<${name} ${key}=${value}>`, at, `<${name}`);
    }
  }

  function readLineStart(line: string, at: number): void {
    const bare = line.replace(/^(?:[ \t]*(?:[-*+]|\d{1,9}[.)])(?=[ \t]))*[ \t]*/, "");
    const offset = at + line.length - bare.length;
    // Behind quotes and notes, markers begin as well.
    const inner = bare.replace(/^(?:[ \t]*(?:>|\[\^[^\]\n]+\]:|(?:[-*+]|\d{1,9}[.)])(?=[ \t])))*[ \t]*/, "");
    // What is below this marker is read as YAML, and found only if it begins its line.
    if (inner !== line.trimStart() && inner.startsWith("///")) parts.form(inner, at + line.length - inner.length);
    if (
      inner !== bare &&
      /^(?:<<<|:{3,}[ \t]*\S|::\w|!include|@import|\$\$include)/.test(inner) &&
      !isPlainMarker(inner)
    )
      parts.form(inner, at + line.length - inner.length);
    for (const [, name = "", argument = ""] of line.matchAll(
      /(?<![`~:])(?:`{3,}|~{3,}|:{3,})(?![`~:])[ \t]*\{([^}\n]*)\}?([^\n]*)/g,
    ))
      if (!isPlainDirective(name, argument.trim())) parts.form(inner, at + line.length - inner.length);
    if (activeTex.test(line)) parts.form(line, at);
    // Kramdown takes mixed marks for a fence.
    if (flavor.html === "raw" && /^[ \t>]*(?:`+~|~+`)/.test(line)) parts.form(line, at);
    // Titles of MkDocs show code as it is written.
    const isTitle = /^[\s>*+\d.):-]*#/.test(line) || /^[\s>]*(?:=+|-+)[ \t]*$/.test(lineAt(text, at + line.length + 1));
    if (flavor.html !== "commonmark" && isTitle && /<[a-z/!?]/i.test(withoutNames(line))) parts.form(line, at);
    const target = includeForms.map((form) => form.exec(bare)?.[1]).find((one) => one !== undefined);
    if (target) parts.include(target, offset);
    else if (blockMarker.test(bare) && !isPlainMarker(bare)) parts.form(bare, offset);
    if (flavor.mdx && /^(?:import|export)\b/.test(line)) parts.form(line, at);
    // A fence that some parser finds here.
    const [, , , info = ""] = fenceStart.exec(line) ?? [];
    if (!info.includes("`") && !info.trim().startsWith("{") && !isPlainInfo(info, "", flavor.labels))
      parts.form(bare, offset);
  }

  /** `import` and `export` in MDX go on to a blank line. */
  function readModules(chunk: string, at: number): void {
    for (const statement of chunk.split(/\n(?=import\b|export\b)/)) {
      const [, name, from = ""] = moduleForm.exec(statement) ?? [];
      // A component under another's name is another component.
      const isNamed = name === undefined || from.endsWith(`/${name}`) || !elements.has(name);
      if (frameworkModules.test(from) && isNamed) continue;
      if (name && importable.test(from)) {
        parts.include(from, at);
        if (/\.mdx?$/.test(from)) imported.add(name);
      } else parts.form(statement.trim(), at);
    }
  }
}
