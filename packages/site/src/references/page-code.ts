import type { HeadingBlock } from "../parse/blocks.ts";
import type { Dialect } from "../parse/dialect.ts";
import { readFrontMatter } from "../parse/front-matter.ts";
import { createOffsetMap, joinLines } from "../parse/leaf-blocks.ts";
import { scanBlocks } from "../parse/scan-blocks.ts";
import { scanInline } from "../parse/scan-inline.ts";
import { type LineIndex, textStart } from "../text/bytes.ts";

/** Inline code, without its backticks. */
interface CodeSpan {
  text: string;
  start: number;
}

/** A fenced block: its language in lower case ("" if it has none), and its text with a map to the page's offsets. */
export interface Sample {
  language: string;
  info: string;
  text: string;
  /** Maps an offset in `text` to an offset in the page. */
  at(offset: number): number;
}

export interface PageCode {
  spans: CodeSpan[];
  samples: Sample[];
  /** Sections about earlier versions: their starts and ends. */
  history: [start: number, end: number][];
}

const language = /^[ \t]*\{?[ \t]*\.?([\w+#-]*)/;

/** The code of a page, held as a byte string: in text, in tables and in fenced blocks. */
export function readPageCode(text: string, dialect: Dialect): PageCode {
  const front = readFrontMatter(text, textStart(text));
  const blocks = scanBlocks(text, front?.bodyStart ?? textStart(text), dialect);
  const labels = new Set(blocks.definitions.map((definition) => definition.label));
  const spans: CodeSpan[] = [];
  for (const block of [...blocks.headings, ...blocks.texts]) {
    if (block.kind !== "text") continue;
    const { lines } = block;
    const joined = lines === null ? text : joinLines(text, lines);
    const at = lines === null ? (offset: number) => offset : createOffsetMap(lines);
    const [from, to] = lines === null ? [block.start, block.end] : [0, joined.length];
    scanInline(joined, from, to, dialect, labels, {
      link: () => undefined,
      tag: () => undefined,
      template: () => undefined,
      code(start, end) {
        let inner = start;
        while (joined.charCodeAt(inner) === 96) inner++;
        const content = joined.slice(inner, end - (inner - start));
        const lead = content.length - content.trimStart().length;
        if (content.trim() !== "") spans.push({ text: content.trim(), start: at(inner + lead) });
      },
    });
  }
  spans.sort((a, b) => a.start - b.start);
  const samples = blocks.fences.map(({ info, lines }): Sample => {
    const written = text.slice(info.start, info.end);
    return {
      language: (language.exec(written)?.[1] ?? "").toLowerCase(),
      info: written.trim(),
      text: joinLines(text, lines),
      at: lines.length === 0 ? () => info.start : createOffsetMap(lines),
    };
  });
  return { spans, samples, history: historySections(text, blocks.headings) };
}

/** From each heading about earlier versions to the next heading of its level. */
function historySections(text: string, headings: readonly HeadingBlock[]): [number, number][] {
  return headings
    .filter(({ start, end }) => historyHeading.test(text.slice(start, end)))
    .map(({ start, level }) => {
      const next = headings.find((other) => other.start > start && other.level <= level);
      return [start, next?.start ?? text.length];
    });
}

/** Languages of programs, as fenced blocks name them. */
export const programs = new Set(
  "js jsx ts tsx mjs cjs javascript typescript py python python3 go golang rust rs java kotlin kt swift ruby rb php cs csharp c cpp c++ dart scala elixir ex vue svelte astro mdx html".split(
    " ",
  ),
);

/** The variables of a page's samples. They are the reader's, in the text and in other samples too. */
export function variablesOf(samples: readonly Sample[]): Set<string> {
  const programsOnly = samples.filter(({ language }) => programs.has(language));
  return new Set(
    programsOnly.flatMap(({ language, text }) => {
      const variable = language === "php" ? /(\$\w+)/g : /\b(?:const|let|var)\s+([A-Za-z_$][\w$]*)\s*(?::[^=\n]*)?=/g;
      return Array.from(text.matchAll(variable), (found) => found[1] as string);
    }),
  );
}

// Pages and lines about earlier versions name removed code on purpose.
export const historyPage =
  /(?:^|[/._-])(?:upgrad\w*|migrat\w*|changelogs?|changes|release-?notes?|releases|history|what-?s-?new|deprecat\w*|breaking-?changes|announcements?|blog|news|legacy|versioned_docs|adrs?|rfcs?|proposals?|decision-records?)(?=[/._-])/i;
const historyHeading =
  /\b(?:upgrad\w*|migrat(?:e|ing|ion)\b.*\b(?:from|guide|to)|breaking changes|changelog|release notes|deprecat\w*|legacy|replacing)\b/i;
export const historyTitle =
  /^(?:title:|#)[^\n]*\b(?:upgrad\w*|preparing for v?\d|changelog|release notes|what.{0,3}s new)/im;
const historyLine =
  /\b(?:removed?|renamed|deprecated?|deprecation|no longer|replac(?:ed|es|ing)|formerly|previously|used to be|was called|instead of|legacy|obsolete|prior to|before version|older versions?|until v?\d)\b/i;

export function isHistory(text: string, lines: LineIndex, offset: number): boolean {
  const line = lines.lineOf(offset);
  return historyLine.test(text.slice(lines.startOf(line), lines.startOf(line + 1)));
}
