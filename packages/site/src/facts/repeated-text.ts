import type { PageBlock } from "../drift/page-blocks.ts";

/** A file's text before and after a change. */
export interface ChangedText {
  path: string;
  was: string;
  now: string;
}

interface Repeated {
  path: string;
  line: number;
  /** The words that page and code had in common. */
  words: string;
  code: string;
  block: PageBlock;
  pageLine: number;
}

/** Fewer words in a row are alike by chance, and so are words such as "this is useful when the". */
const wordsMin = 5;
const isSaying = (phrase: string) => (phrase.match(/\p{L}{5,}/gu) ?? []).length >= 2;
/** What more blocks have is a common expression. */
const blocksMax = 2;
/** A change that replaces more is a rewrite, and says nothing about one sentence. */
const phrasesMax = 20_000;

/** Where pages repeat a text of the code, such as the help of an option, word by word, that the change replaced. */
export function repeatedText(changes: readonly ChangedText[], blocks: readonly PageBlock[]): Repeated[] {
  const gone = new Map<string, { path: string; line: number; code: string }>();
  for (const { path, was, now } of changes) {
    const kept = new Set(linesOf(now));
    const words: { word: string; line: number }[] = [];
    const lines = was.split("\n");
    for (const [at, line] of lines.entries()) {
      if (kept.has(line.trim())) words.length = 0;
      for (const word of kept.has(line.trim()) ? [] : wordsOf(line)) {
        words.push({ word, line: at });
        const phrase = words.slice(-wordsMin);
        const said = phrase.map((one) => one.word).join(" ");
        if (phrase.length < wordsMin || !isSaying(said) || gone.size >= phrasesMax) continue;
        const first = phrase[0]?.line ?? at;
        gone.set(said, {
          path,
          line: first + 1,
          code: lines[first]?.trimEnd() ?? "",
        });
      }
    }
  }
  if (gone.size === 0) return [];
  const starts = new Set([...gone.keys()].map((phrase) => phrase.slice(0, phrase.indexOf(" "))));
  // Few phrases are on a page: the whole code is read only then.
  const texts: string[] = [];
  const isKept = (phrase: string) => {
    if (texts.length === 0) for (const { now } of changes) texts.push(` ${wordsOf(now).join(" ")} `);
    return texts.some((text) => text.includes(` ${phrase} `));
  };
  const found = blocks.flatMap((block) => {
    const words = block.text.split("\n").flatMap((line, at) => wordsOf(line).map((word) => ({ word, at })));
    return words.flatMap(({ word, at }, index) => {
      if (!starts.has(word)) return [];
      const phrase = words.slice(index, index + wordsMin);
      const said = phrase.map((one) => one.word).join(" ");
      const place = gone.get(said);
      return place === undefined || isKept(said) ? [] : [{ ...place, words: said, block, pageLine: block.line + at }];
    });
  });
  const rare = [...Map.groupBy(found, ({ words }) => words).values()]
    .filter(({ length }) => length <= blocksMax)
    .flat();
  return [...Map.groupBy(rare, ({ block }) => block).values()].flatMap(([first]) => first ?? []);
}

const linesOf = (text: string) => text.split("\n").map((line) => line.trim());
const wordsOf = (text: string) =>
  (text.match(/[\p{L}\p{N}](?:[\p{L}\p{N}_./-]*[\p{L}\p{N}])?/gu) ?? []).map((word) => word.toLowerCase());
