import { decodePiece } from "../../text/bytes.ts";
import type { Passage } from "../passages.ts";
import type { ValeLevel } from "./config.ts";
import type { ValeRule, ValeStyles } from "./load-styles.ts";
import { compilePattern, type Pattern } from "./pattern.ts";
import type { FileMemory } from "./rule-kinds.ts";

export interface ValeAlert {
  rule: string;
  level: ValeLevel;
  /** The offset in the file. */
  offset: number;
  message: string;
}

/** A text with its scope names, and the file positions of its characters. */
interface Block {
  scopes: ReadonlySet<string>;
  text: string;
  at(index: number): number;
}

const severities: readonly ValeLevel[] = ["suggestion", "warning", "error"];

/** Runs the rules over a page, held as a byte string. `onRule` is called with each rule before it runs. */
export function judgePage(
  styles: ValeStyles,
  path: string,
  source: string,
  passages: readonly Passage[],
  onRule: (index: number) => void = () => undefined,
): ValeAlert[] {
  const { runs, ignores } = styles.settingsFor(path);
  const lowest = severities.indexOf(styles.config.minLevel);
  const wanted = styles.rules.flatMap((rule, index) =>
    runs(rule.name) && severities.indexOf(rule.level) >= lowest ? { rule, index } : [],
  );
  if (wanted.length === 0) return [];
  const isOff = readSwitches(source);
  const shown = passages.filter(({ kind }) => !styles.config.skipped.includes(tagOf[kind] ?? kind));
  const blocks = blocksOf(path, source, masked(shown, ignoredRanges(source, ignores)));
  const memory: FileMemory = new Set();
  const alerts = new Map<string, ValeAlert>();
  for (const { rule, index } of wanted) {
    onRule(index);
    let count = 0;
    for (const block of blocks) {
      if (!applies(rule, block)) continue;
      for (const { start, message } of rule.run(block.text, memory)) {
        const offset = block.at(start);
        const key = `${rule.name}\0${offset}\0${message}`;
        if (alerts.has(key) || isOff(rule.name, offset)) continue;
        if (rule.limit > 0 && count++ >= rule.limit) continue;
        alerts.set(key, { rule: rule.name, level: rule.level, offset, message });
      }
    }
  }
  return [...alerts.values()].sort((a, b) => a.offset - b.offset);
}

const scopesOf: Readonly<Record<Passage["kind"], readonly string[]>> = {
  heading: ["text", "heading"],
  list: ["text", "list"],
  blockquote: ["text", "blockquote"],
  header: ["text", "table", "header"],
  cell: ["text", "table", "cell"],
  alt: ["text", "attr", "alt"],
  title: [],
  paragraph: ["text"],
};

const tagOf: Readonly<Partial<Record<Passage["kind"], string>>> = {
  list: "li",
  header: "th",
  cell: "td",
  paragraph: "p",
};

function blocksOf(path: string, source: string, passages: readonly Passage[]): Block[] {
  const extension = path.slice(path.lastIndexOf(".") + 1);
  const blocks: Block[] = [];
  let summary = "";
  const summaryAt: { from: number; at: (index: number) => number }[] = [];
  for (const { kind, level, text: whole, at: inFile } of passages) {
    if (kind === "title") continue;
    const skipped = whole.length - whole.trimStart().length;
    const text = whole.trim();
    const at = (index: number): number => inFile(index + skipped);
    const scopes = new Set([...scopesOf[kind], extension, ...(level > 0 ? [`h${level}`] : [])]);
    blocks.push({ scopes, text, at });
    if (kind === "paragraph") {
      blocks.push({ scopes: new Set(["paragraph", extension]), text, at });
      for (const { start, sentence } of sentencesOf(text)) {
        blocks.push({
          scopes: new Set(["sentence", extension]),
          text: sentence,
          at: (index) => at(start + index),
        });
      }
    }
    if (kind === "paragraph" || kind === "list" || kind === "blockquote") {
      summaryAt.push({ from: summary.length, at });
      summary += `${text}\n\n`;
    }
  }
  blocks.push({
    scopes: new Set(["summary", extension]),
    text: summary,
    at(index) {
      const piece = summaryAt.findLast(({ from }) => from <= index);
      return piece === undefined ? 0 : piece.at(index - piece.from);
    },
  });
  blocks.push(rawBlock(source, extension));
  return blocks;
}

/** The whole file as written. */
function rawBlock(source: string, extension: string): Block {
  const text = decodePiece(source);
  const isPlain = text.length === source.length;
  const at = (index: number): number => (isPlain ? index : Buffer.byteLength(text.slice(0, index)));
  return { scopes: new Set(["raw", extension]), text, at };
}

/**
 * `heading & ~heading.h1`: all parts of at least one scope must match. A negation applies to passages, not to the whole
 * file.
 */
function applies({ scopes }: ValeRule, block: Block): boolean {
  return scopes.some((scope) =>
    scope.split("&").every((part) => {
      const name = part.trim();
      const isNegated = name.startsWith("~");
      const holds = name
        .replace(/^~/, "")
        .split(".")
        .every((one) => block.scopes.has(one));
      if (!isNegated) return holds;
      return !holds && !block.scopes.has("raw") && !block.scopes.has("summary");
    }),
  );
}

const segmenter = new Intl.Segmenter("en", { granularity: "sentence" });
const abbreviation = /(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|Mr|Mrs|Ms|Dr|Prof|St|No|Fig|Inc|Ltd|Jr|Sr)\.\s*$/;

function sentencesOf(text: string): { start: number; sentence: string }[] {
  const found: { start: number; sentence: string }[] = [];
  let from = 0;
  let held = "";
  // A line break within a paragraph is rendered as a space.
  for (const { segment } of segmenter.segment(text.replaceAll("\n", " "))) {
    held += segment;
    if (abbreviation.test(held)) continue;
    add();
  }
  add();
  return found;

  function add(): void {
    const start = from + held.length - held.trimStart().length;
    if (held.trim() !== "") found.push({ start, sentence: text.slice(start, start + held.trim().length) });
    from += held.length;
    held = "";
  }
}

const ignorePatterns = new Map<string, Pattern | null>();

/** The file ranges that `TokenIgnores` and `BlockIgnores` exclude. */
function ignoredRanges(source: string, ignores: readonly string[]): { start: number; end: number }[] {
  if (ignores.length === 0) return [];
  const { text, at } = rawBlock(source, "");
  return ignores.flatMap((ignore) => {
    let pattern = ignorePatterns.get(ignore);
    if (pattern === undefined) {
      try {
        pattern = compilePattern(ignore);
      } catch {
        pattern = null;
      }
      ignorePatterns.set(ignore, pattern);
    }
    return (pattern?.matchAll(text) ?? []).map((found) => ({
      start: at(found.index),
      end: at(found.index + found[0].length),
    }));
  });
}

/** Ignored text is masked like code. */
function masked(passages: readonly Passage[], ranges: readonly { start: number; end: number }[]): readonly Passage[] {
  if (ranges.length === 0) return passages;
  return passages.map((passage) => {
    const chars = Array.from({ length: passage.text.length }, (_, i) => {
      const offset = passage.at(i);
      return ranges.some(({ start, end }) => start <= offset && offset < end) ? "*" : passage.text.charAt(i);
    });
    return { ...passage, text: chars.join("") };
  });
}

const comment = /(?:<!--|\{\/\*)\s*vale\s+([^\n]*?)\s*(?:-->|\*\/\})/g;

/** `<!-- vale off -->`, `<!-- vale Style.Rule = NO -->` and their opposites, which apply from there on. */
function readSwitches(source: string): (rule: string, offset: number) => boolean {
  const switches = [...source.matchAll(comment)].flatMap(({ index, 1: words = "" }) => {
    if (words === "off" || words === "on") return { index, rule: "", isOff: words === "off" };
    const found = /^([\w-]+(?:\.[\w-]+)?)\s*(?:\[.*\])?\s*=\s*(YES|NO)$/.exec(words);
    return found === null ? [] : { index, rule: found[1] as string, isOff: found[2] === "NO" };
  });
  return (rule, offset) => {
    const latest = (name: string): boolean =>
      switches.findLast((one) => one.rule === name && one.index <= offset)?.isOff === true;
    return latest("") || latest(rule) || latest(rule.slice(0, rule.indexOf(".")));
  };
}
