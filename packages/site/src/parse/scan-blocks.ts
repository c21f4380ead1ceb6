import {
  admonitionStart,
  atxLevel,
  closesFence,
  endsHtmlBlock,
  type Fence,
  fenceAt,
  footnoteStart,
  htmlBlockEnd,
  isBlank,
  isSwallowed,
  isThematicBreak,
  listMarker,
  moduleStart,
  rawBlockEnd,
  setextLevel,
  snippetAt,
} from "./block-starts.ts";
import { type Blocks, normalizeLabel } from "./blocks.ts";
import type { Dialect } from "./dialect.ts";
import { closeParagraph, headingContent, isTable, type Paragraph } from "./leaf-blocks.ts";
import { skipFlow, skipModule } from "./scan-flow.ts";

// A container is the number of columns that its continuation lines are indented by, or this for a quote.
const quote = -1;
// No real page nests deeper. Beyond it, markers are text.
const containersMax = 64;

// After this many unclosed openings, searching to the end of the page again would take quadratic time.
const flowFailuresMax = 40;

type Plain = { kind: "none" | "paragraph" };
const noLeaf: Plain = { kind: "none" };
const inText: Plain = { kind: "paragraph" };

type Leaf = Plain | { kind: "fence"; fence: Fence; start: number } | { kind: "html"; until: string; start: number };

/** Finds a page's blocks from an offset by CommonMark's rules, or by MDX's, depending on the dialect. */
export function scanBlocks(text: string, from: number, dialect: Dialect): Blocks {
  const isMdx = dialect.syntax === "mdx";
  // MDX has no indented code, so no indentation is too deep for a block.
  const indentMax = isMdx ? 1e9 : 3;
  const blocks: Blocks = {
    texts: [],
    headings: [],
    definitions: [],
    footnotes: new Map(),
    bareFences: [],
    fences: [],
    code: [],
    modules: [],
    snippets: [],
    openFence: null,
  };
  const containers: number[] = [];
  let leaf: Leaf = { kind: "none" };
  let paragraph: Paragraph = { lines: [], firm: Infinity, isQuoted: false };
  let flowFailures = 0;
  // Docusaurus hides MDX from other tools in a fence with this name, and ignores the fence itself.
  let hiddenFence: Fence | null = null;

  // The position in the current line, and its column with tabs expanded.
  let at = 0;
  let column = 0;
  // The next character that is not white space, and its distance in columns.
  let next = 0;
  let indent = 0;

  function measure(end: number): void {
    next = at;
    let reached = column;
    for (; next < end; next++) {
      const c = text.charCodeAt(next);
      if (c === 32) reached++;
      else if (c === 9) reached += 4 - (reached % 4);
      else break;
    }
    indent = reached - column;
  }

  function advance(columns: number, end: number): void {
    const goal = column + columns;
    while (column < goal && at < end) {
      const c = text.charCodeAt(at);
      const step = c === 9 ? 4 - (column % 4) : 1;
      if (c === 9 && column + step > goal) {
        // The rest of a tab belongs to the content.
        column = goal;
        return;
      }
      column += step;
      at++;
    }
  }

  /** Records the file that the line includes, if the dialect has one of these forms. */
  function addInclude(end: number, forms: readonly Dialect["includes"][]): boolean {
    const { includes } = dialect;
    const found = includes === undefined || !forms.includes(includes) ? null : snippetAt(text, next, end, includes);
    if (found !== null) blocks.snippets.push(found);
    return found !== null;
  }

  /** Kramdown ends an HTML block after a line that only closes a tag. */
  function isClosed(from: number, end: number): boolean {
    return dialect.kramdown === true && /^[ \t]*<\/[\w-]+>[ \t]*\r?$/.test(text.slice(from, end));
  }

  function endLeaf(end: number): void {
    if (leaf.kind === "paragraph") {
      closeParagraph(blocks, text, paragraph, 0);
      paragraph = { lines: [], firm: Infinity, isQuoted: false };
    } else if (leaf.kind === "html") blocks.texts.push({ kind: "markup", start: leaf.start, end, lines: null });
    leaf = noLeaf;
  }

  /** Some blocks cannot interrupt a paragraph, but can interrupt a table. */
  function inTable(): boolean {
    return isTable(text, paragraph.lines, paragraph.firm);
  }

  // The current line: its start, the number of containers it continues, and whether it started a block.
  let thisLine = from;
  let matched = 0;
  let isOpened = false;

  function startBlock(): void {
    endLeaf(thisLine);
    if (!isOpened) containers.length = matched;
    isOpened = true;
  }

  let lineStart = from;
  lines: while (lineStart < text.length) {
    let lineEnd = text.indexOf("\n", lineStart);
    if (lineEnd === -1) lineEnd = text.length;
    const end = lineEnd > lineStart && text.charCodeAt(lineEnd - 1) === 13 ? lineEnd - 1 : lineEnd;
    thisLine = lineStart;
    lineStart = lineEnd + 1;
    at = thisLine;
    column = 0;

    // 1. Find the open containers that the line continues.
    for (matched = 0; matched < containers.length; matched++) {
      measure(end);
      const container = containers[matched] as number;
      if (container === quote) {
        if (next >= end || indent > indentMax || text.charCodeAt(next) !== 62) break;
        advance(indent + 1, end);
        const c = text.charCodeAt(at);
        if (at < end && (c === 32 || c === 9)) advance(1, end);
      } else if (next < end) {
        if (indent < container) break;
        advance(container, end);
      }
    }
    measure(end);
    const isContinued = matched === containers.length;

    // 2. A fence or an HTML block consumes every line until it ends.
    if (leaf.kind === "fence") {
      if (isContinued) {
        if (indent <= indentMax && closesFence(text, next, end, leaf.fence)) {
          leaf = noLeaf;
          continue;
        }
        blocks.fences.at(-1)?.lines.push(at, end);
        if (text.charCodeAt(next) === leaf.fence.char && isSwallowed(text, next, end, leaf.fence))
          blocks.openFence ??= leaf.start;
        if (next < end) {
          blocks.code.push({ start: next, end });
          addInclude(end, ["mdbook", "snippets"]);
        }
        continue;
      }
      leaf = noLeaf;
    } else if (leaf.kind === "html") {
      if (isContinued) {
        if (endsHtmlBlock(text, at, end, leaf.until) || isClosed(at, end)) endLeaf(end);
        continue;
      }
      endLeaf(thisLine);
    }

    // 3. Open new containers and leaves.
    isOpened = false;
    while (next < end) {
      const inParagraph: boolean = leaf.kind === "paragraph" && isContinued && !isOpened;
      const c = text.charCodeAt(next);
      if (indent > indentMax) {
        // Code cannot interrupt a paragraph, but it can interrupt a table.
        if (leaf.kind === "paragraph" && !isOpened && !inTable()) break;
        startBlock();
        blocks.code.push({ start: next, end });
        continue lines;
      }
      // A letter starts no block, except MDX's modules.
      if ((c > 96 && c < 123) || (c > 64 && c < 91) || c > 127) {
        if (!isMdx || next !== thisLine || moduleStart(text, next) === null || (inParagraph && !inTable())) break;
        startBlock();
        const after = skipModule(text, next);
        blocks.modules.push({ start: next, end: after });
        lineStart = Math.max(lineStart, text.indexOf("\n", after - 1) + 1 || text.length);
        continue lines;
      }
      if (c === 62) {
        if (containers.length >= containersMax) break;
        startBlock();
        advance(indent + 1, end);
        const space = text.charCodeAt(at);
        if (at < end && (space === 32 || space === 9)) advance(1, end);
        containers.push(quote);
        measure(end);
        continue;
      }
      if (c === 35) {
        const level = atxLevel(text, next, end, dialect.slug !== "python");
        if (level === 0) break;
        startBlock();
        const content = headingContent(text, next + level, end);
        blocks.headings.push({ kind: "text", level, ...content, lines: null });
        continue lines;
      }
      if (c === 96 || c === 126) {
        if (hiddenFence !== null && closesFence(text, next, end, hiddenFence)) {
          hiddenFence = null;
          startBlock();
          continue lines;
        }
        const fence = fenceAt(text, next, end);
        if (fence === null) break;
        if (isMdx && text.startsWith("mdx-code-block", fence.info)) {
          hiddenFence = fence;
          startBlock();
          continue lines;
        }
        const opening = next;
        addInclude(end, ["myst"]);
        startBlock();
        if (isBlank(text, fence.info, end)) blocks.bareFences.push(opening);
        blocks.fences.push({ info: { start: fence.info, end }, lines: [] });
        leaf = { kind: "fence", fence, start: opening };
        continue lines;
      }
      if (addInclude(end, ["vitepress", "mdbook", "snippets", "fumadocs"])) {
        startBlock();
        continue lines;
      }
      if (c === 60 && !isMdx) {
        const mayBeRaw = dialect.slug === "python" && containers.length === 0 && flowFailures <= flowFailuresMax;
        const raw = mayBeRaw ? rawBlockEnd(text, next, end) : -1;
        if (mayBeRaw && raw === -1) flowFailures++;
        if (raw !== -1) {
          startBlock();
          blocks.texts.push({ kind: "markup", start: next, end: raw, lines: null });
          lineStart = Math.max(lineStart, text.indexOf("\n", raw - 1) + 1 || text.length);
          continue lines;
        }
        const isInText = leaf.kind === "paragraph" && !isOpened && !inTable();
        const until = htmlBlockEnd(text, next, end, isInText);
        if (until === null) break;
        startBlock();
        leaf = { kind: "html", until, start: next };
        if (until === "" ? isClosed(next, end) : endsHtmlBlock(text, next + (until === "-->" ? 4 : 1), end, until))
          endLeaf(end);
        continue lines;
      }
      if ((c === 60 || c === 123) && isMdx) {
        if (flowFailures > flowFailuresMax) break;
        const after = skipFlow(text, next);
        if (after === -1) {
          flowFailures++;
          break;
        }
        const start = next;
        startBlock();
        blocks.texts.push({ kind: "text", start, end: after, lines: null });
        lineStart = Math.max(lineStart, text.indexOf("\n", after) + 1 || text.length);
        continue lines;
      }
      if (inParagraph && (c === 61 || c === 45)) {
        const level = setextLevel(text, next, end);
        const isUnderTable = level !== 0 && inTable();
        if (isUnderTable && c === 61) break;
        if (level !== 0 && !isUnderTable) {
          closeParagraph(blocks, text, paragraph, level);
          leaf = noLeaf;
          paragraph = { lines: [], firm: Infinity, isQuoted: false };
          continue lines;
        }
      }
      if (isThematicBreak(text, next, end)) {
        startBlock();
        continue lines;
      }
      if (dialect.admonitions && admonitionStart(text, next) !== null) {
        startBlock();
        containers.push(indent + 4);
        blocks.texts.push({ kind: "text", start: next, end, lines: null });
        continue lines;
      }
      // `/// note | Title`: only the title is visible.
      if (dialect.admonitions && c === 47 && text.startsWith("///", next)) {
        startBlock();
        const bar = text.indexOf("|", next);
        if (bar !== -1 && bar < end) blocks.texts.push({ kind: "text", start: bar + 1, end, lines: null });
        continue lines;
      }
      if (dialect.colons && c === 58 && text.startsWith(":::", next)) {
        addInclude(end, ["myst"]);
        startBlock();
        blocks.texts.push({ kind: "text", start: next, end, lines: null });
        continue lines;
      }
      const footnote = c === 91 && text.charCodeAt(next + 1) === 94 ? footnoteStart(text, next) : null;
      if (footnote !== null && !inParagraph) {
        startBlock();
        advance(indent + footnote[0].length, end);
        const label = footnote[0].slice(1, footnote[0].indexOf("]"));
        blocks.footnotes.set(normalizeLabel(label), label.slice(1));
        containers.push(4);
        measure(end);
        continue;
      }
      const marker = listMarker(text, next, end);
      if (marker === null || containers.length >= containersMax) break;
      const isEmpty = isBlank(text, next + marker.width, end);
      if (inParagraph && (isEmpty || !marker.startsAtOne) && !inTable()) break;
      startBlock();
      const markerIndent = indent;
      advance(indent + marker.width, end);
      measure(end);
      // With five or more columns after the marker, one belongs to it and the rest is indented code.
      const padding = isEmpty || (indent > 4 && !isMdx) ? 1 : indent;
      containers.push(markerIndent + marker.width + padding);
      advance(isEmpty ? 0 : padding, end);
      measure(end);
    }

    // 4. No new block: a blank line, or a paragraph's line.
    if (next >= end) {
      endLeaf(thisLine);
      if (!isOpened) containers.length = matched;
      continue;
    }
    if (leaf.kind !== "paragraph") {
      if (!isOpened) containers.length = matched;
      leaf = inText;
    } else if (!isContinued && !isOpened) paragraph.firm = Math.min(paragraph.firm, paragraph.lines.length);
    paragraph.isQuoted ||= containers.includes(quote);
    paragraph.lines.push(next, end);
  }
  // A fence in a list or a quote ends with it.
  if (leaf.kind === "fence" && containers.length === 0) blocks.openFence ??= leaf.start;
  endLeaf(text.length);
  return blocks;
}
