import type { Evidence } from "@emend/base/evidence.ts";

/** Words that name something: not grammar, which every line has. */
const word = /[\p{L}\p{N}_][\p{L}\p{N}_.-]{2,}|\d+/gu;
const lineCharactersMax = 600;
const linesReadMax = 20_000;
/** A shorter line is in many texts. */
const ownCharactersMin = 12;

/**
 * The lines of what was read that have the most and the rarest words of a change, in their order, within this length. Without
 * what the agent wrote itself and then read again.
 */
export function excerptsFor(change: string, log: NonNullable<Evidence["log"]>, charactersMax: number) {
  const written = log.flatMap(({ kind, text }) => (kind === "wrote" ? text.split("\n") : []));
  const own = [...new Set(written.map((line) => line.trim()))].filter((line) => line.length >= ownCharactersMin);
  const wanted = new Set(wordsOf(change));
  const rows = log
    .flatMap(({ kind, text }, file) => (kind === "read" ? text.split("\n").map((line) => ({ line, file })) : []))
    .slice(0, linesReadMax)
    .map(({ line, file }) => ({ line: line.slice(0, lineCharactersMax), file }))
    .map((row, index) => ({ ...row, index, words: wordsOf(row.line).filter((each) => wanted.has(each)) }));
  const frequency = new Map<string, number>();
  for (const each of rows.flatMap(({ words }) => words)) frequency.set(each, (frequency.get(each) ?? 0) + 1);
  const scoreOf = ({ words }: (typeof rows)[number]) =>
    words.reduce((sum, each) => sum + 1 / (frequency.get(each) ?? 1), 0);
  const kept = new Set<(typeof rows)[number]>();
  let room = charactersMax;
  for (const best of rows.toSorted((a, b) => scoreOf(b) - scoreOf(a) || a.index - b.index)) {
    // The lines around it say what it is about.
    for (const row of [best, rows[best.index + 1], rows[best.index - 1]]) {
      if (!row || kept.has(row) || row.file !== best.file || row.line.length >= room) continue;
      if (own.some((words) => row.line.includes(words))) continue;
      room -= row.line.length + 1;
      kept.add(row);
    }
  }
  return [...Map.groupBy(rows, ({ file }) => file)].flatMap(([file, shown]) => {
    const text = shown.map((row) => (kept.has(row) ? row.line : "\0")).join("\n");
    return shown.some((row) => kept.has(row))
      ? [{ from: log[file]?.from ?? "", text: text.replaceAll(/\0(?:\n\0)*/g, "…") }]
      : [];
  });
}

function wordsOf(text: string): readonly string[] {
  return [...new Set(text.toLowerCase().match(word))];
}
