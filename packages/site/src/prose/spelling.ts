import type { Passage } from "./passages.ts";
import type { WordList } from "./word-list.ts";

export interface Slip {
  passage: Passage;
  start: number;
  word: string;
}

/** Names, paths, versions, URLs and flags: text that is code, with or without code markup. */
const isNoProse = /[\d_@/\\#=<>{}$%~^|+*]|\w[.:]\w|^-/;
const edges = /^[^\p{L}]+|[^\p{L}]+$/gu;
const latin = /^[\p{Script=Latin}\p{M}'’]+$/u;
const plural = /['’]s?$/;

const wordsMin = 12;
const unknownShareMax = 0.4;

/**
 * The words of a page that are not in the list, each at its first occurrence. Names are skipped: words with an inner
 * capital, or in capitals. A page with too many unknown words is in another language, and none of them counts.
 */
export function findSlips(passages: readonly Passage[], list: WordList): Slip[] {
  const slips: Slip[] = [];
  const known = new Map<string, boolean>();
  const told = new Set<string>();
  for (const passage of passages) {
    for (const chunk of passage.text.matchAll(/\S+/g)) {
      const text = chunk[0].replace(edges, "");
      if (text === "" || isNoProse.test(chunk[0].replace(/^["'(“‘[]+|["')”’\],.;:!?…]+$/g, ""))) continue;
      if (list.has(text)) {
        known.set(text, true);
        continue;
      }
      const from = chunk.index + chunk[0].indexOf(text);
      let at = 0;
      for (const part of text.split(/([^\p{L}\p{M}'’]+)/u)) {
        const word = part.replace(/^['’]+/, "").replace(/['’]+$/, "");
        const start = from + at + part.indexOf(word);
        at += part.length;
        if (word.length < 2 || !latin.test(word) || isName(word)) continue;
        const isKnown = known.get(word) ?? (list.has(word) || list.has(word.replace(plural, "")));
        known.set(word, isKnown);
        if (!isKnown && !told.has(word)) slips.push({ passage, start, word });
        told.add(word);
      }
    }
  }
  const unknown = [...known.values()].filter((isKnown) => !isKnown).length;
  return known.size >= wordsMin && unknown > known.size * unknownShareMax ? [] : slips;
}

function isName(word: string): boolean {
  const bare = word.replace(plural, "");
  return /\p{Lu}/u.test(bare.slice(1));
}
