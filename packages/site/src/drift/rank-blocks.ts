import type { PageBlock } from "./page-blocks.ts";

/** A file of a change, with the lines that it removes and adds. */
export interface ChangedLines {
  path: string;
  removed: readonly string[];
  added: readonly string[];
}

/** How much of the best block's score all blocks of its page get: what a change concerns is often spread over one page. */
const pageShare = 0.3;

/**
 * The blocks that share the rarest words with a change (inverse document frequency), the best first. A word counts once
 * for a block, and less in a long block.
 */
export function rankBlocks(blocks: readonly PageBlock[], change: readonly ChangedLines[], max: number): PageBlock[] {
  const wanted = changedWords(change);
  const found = blocks.map((block) => {
    const words = wordsOf(`${block.section}\n${block.text}`);
    return { block, shared: [...words].filter((word) => wanted.has(word)), size: words.size };
  });
  const blocksWith = new Map<string, number>();
  for (const { shared } of found) for (const word of shared) blocksWith.set(word, (blocksWith.get(word) ?? 0) + 1);
  const rarity = (word: string) => Math.log(1 + blocks.length / (blocksWith.get(word) ?? 1));
  const scored = found.flatMap(({ block, shared, size }) => {
    if (shared.length === 0) return [];
    // Squared: two words of every tenth page are worth less than one that no other page has.
    const score = shared.reduce((sum, word) => sum + rarity(word) ** 2 * (wanted.get(word) ?? 0), 0);
    return [{ block, score: score / Math.sqrt(20 + size) }];
  });
  const best = new Map<string, number>();
  for (const { block, score } of scored) best.set(block.path, Math.max(score, best.get(block.path) ?? 0));
  return scored
    .map(({ block, score }) => ({ block, score: score + pageShare * (best.get(block.path) ?? 0) }))
    .sort((a, b) => b.score - a.score || a.block.path.localeCompare(b.block.path, "en") || a.block.line - b.block.line)
    .slice(0, max)
    .map(({ block }) => block);
}

/** In quotes are flags, keys and messages, which readers meet more often than names of variables. */
const quoted = /"[^"]+"|'[^']+'|`[^`]+`/g;

/** The words of a change with their weights: a line that only moved says nothing, and a path says less than a line. */
function changedWords(change: readonly ChangedLines[]): ReadonlyMap<string, number> {
  const weights = new Map<string, number>();
  const add = (text: string, weight: number) => {
    for (const word of wordsOf(text)) weights.set(word, Math.max(weight, weights.get(word) ?? 0));
  };
  for (const { path, removed, added } of change) {
    add(path, 0.3);
    const before = new Set(removed.map((line) => line.trim()));
    const after = new Set(added.map((line) => line.trim()));
    for (const line of [
      ...removed.filter((one) => !after.has(one.trim())),
      ...added.filter((one) => !before.has(one.trim())),
    ]) {
      add(line, 1);
      for (const [text] of line.matchAll(quoted)) add(text, 2);
    }
  }
  return weights;
}

const compound = /[\p{L}\p{N}]+(?:[-_.][\p{L}\p{N}]+)*/gu;

/** Names whole and in parts: `dryRun`, `dry-run` and `DRY_RUN` share `dryrun`, `dry` and `run`. */
function wordsOf(text: string): Set<string> {
  const words = new Set<string>();
  for (const [name] of text.matchAll(compound)) {
    const parts = name
      .split(/[-_.]|(?<=[\p{Ll}\p{N}])(?=\p{Lu})/u)
      .map((part) => part.toLowerCase())
      .filter((part) => part !== "");
    for (const part of parts) if (part.length >= 2) words.add(stem(part));
    if (parts.length > 1 && parts.length <= 6) words.add(parts.join(""));
  }
  return words;
}

/** `retries` and `retry`, `caching` and `cached`: roughly one word. */
function stem(word: string): string {
  if (word.length < 5 || /\d/.test(word)) return word;
  return word.replace(/(?:ies|y)$/, "i").replace(/(?:ing|ed|es|s|e)$/, "");
}
