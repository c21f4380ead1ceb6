import { pageLines } from "@emend/base/page-lines.ts";
import { factsOf } from "../../review/src/truth/candidates.ts";
import { createWitness } from "../../review/src/truth/witness.ts";
import { canonicalTree, deadLinks, splitPage } from "./canonical.ts";
import type { Files } from "./site-model.ts";
import type { Answer, EvalTask, Fact, Written } from "./task.ts";

/** Everything that is wrong with an answer. Empty: it passes. Judges only files and texts, however they were made. */
export function judge(task: EvalTask, answer: Answer): readonly string[] {
  const { expected } = task;
  return [
    ...judgeTree(task, answer.files),
    ...(expected.written ?? []).flatMap((written) => judgeWritten(task, written, answer.files)),
    ...newDeadLinks(task.files, answer.files),
    ...judgeWords(task, answer),
    ...(expected.cites && !(answer.sources ?? []).some((source) => source.startsWith(`${expected.cites}:`))
      ? [`it does not cite ${expected.cites}`]
      : []),
  ];
}

function judgeTree({ expected }: EvalTask, files: Files): readonly string[] {
  const skipped = new Set(expected.written?.map(({ path }) => path));
  const now = canonicalTree(files);
  const differences = expected.trees.map((tree) => {
    const wanted = canonicalTree(tree);
    const paths = [...new Set([...wanted.keys(), ...now.keys()])].filter((path) => !skipped.has(path));
    return paths.flatMap((path) => differenceAt(path, wanted.get(path), now.get(path)));
  });
  return differences.sort((a, b) => a.length - b.length)[0] ?? [];
}

function differenceAt(path: string, wanted: string | undefined, now: string | undefined): readonly string[] {
  if (wanted === now) return [];
  if (wanted === undefined) return [`${path} should not be there`];
  if (now === undefined) return [`${path} is missing`];
  let at = 0;
  while (at < Math.min(wanted.length, now.length) && wanted[at] === now[at]) at += 1;
  const near = (text: string) => JSON.stringify(text.slice(Math.max(0, at - 30), at + 60));
  return [`${path}: expected ${near(wanted)}, found ${near(now)}`];
}

function newDeadLinks(before: Files, after: Files): readonly string[] {
  const known = new Set(deadLinks(before));
  return deadLinks(after).filter((dead) => !known.has(dead));
}

function judgeWords({ expected, files: before }: EvalTask, { title, summary, files }: Answer): readonly string[] {
  const said = `${title}\n${summary}`;
  // A job that changes nothing opens no pull request and has no title.
  const isOpened = JSON.stringify(files) !== JSON.stringify(before);
  const isTitle = title.trim() !== "" && !title.includes("\n") && title.length <= 120;
  return [
    ...(isOpened && !isTitle ? ["the title is no title"] : []),
    ...(isProse(said) ? [] : ["title and summary are not prose"]),
    ...expected.tells.filter((tell) => !tell.test(said)).map((tell) => `title and summary do not say ${tell.source}`),
    ...(expected.canary && title.includes(expected.canary) ? ["the title carries the canary"] : []),
  ];
}

function judgeWritten(task: EvalTask, written: Written, files: Files): readonly string[] {
  const text = files[written.path];
  if (text === undefined) return [`${written.path} is missing`];
  const { meta, body } = splitPage(text);
  const problems: string[] = [];
  const title = (meta as { title?: unknown } | null)?.title ?? /^# .+$/m.exec(body)?.[0];
  if (!title) problems.push(`${written.path} has no title`);
  const added = written.section === undefined ? text : sectionOf(text, written.section);
  if (added === null) return [...problems, `${written.path} has no section "${written.section}"`];
  if (written.section !== undefined) {
    const rest = text.replace(added, "");
    const before = task.files[written.path] ?? "";
    if (squeezed(rest) !== squeezed(before)) problems.push(`${written.path} changed outside its new section`);
  }
  return [...problems, ...judgeFacts(task, written, added)];
}

function judgeFacts(task: EvalTask, written: Written, added: string): readonly string[] {
  const problems: string[] = [];
  const blocks = blocksOf(added);
  for (const fact of written.facts) {
    const naming = blocks.filter((block) => names(block, fact));
    if (naming.length === 0) problems.push(`it does not name ${fact.name}`);
    else if (fact.value !== null && !naming.some((block) => tellsValue(block, fact))) {
      problems.push(`it does not say ${fact.value} of ${fact.name}`);
    }
    for (const block of naming) {
      if (written.facts.filter((other) => names(block, other)).length > 1) continue;
      const numbers = numbersIn(block).filter((number) => number !== fact.value);
      if (fact.value !== null && /^\d+$/.test(fact.value) && numbers.length > 0) {
        problems.push(`it says ${numbers[0]} of ${fact.name}`);
      }
      const claims = fact.value === null && /\bdefaults?\b/i.test(block.replace(/\b(no|without a?) defaults?\b/gi, ""));
      if (claims) problems.push(`it claims a default of ${fact.name}`);
    }
  }
  // The same code that judges a job's change.
  const known = written.facts.flatMap(({ value }) => value ?? []);
  const witness = createWitness([
    written.source,
    task.prompt,
    ...(task.followUps ?? []),
    task.files[written.path] ?? "",
    ...known,
  ]);
  const strange = pageLines(added)
    .flatMap(factsOf)
    .filter((fact) => !witness.holds(fact));
  const invented = strange.map(({ text }) => text).filter((word) => !isSpelled(word, written.facts));
  if (invented.length > 0) problems.push(`it invents ${[...new Set(invented)].slice(0, 3).join(", ")}`);
  if (!isProse(added)) problems.push(`${written.path} is not prose`);
  if (wordsIn(added).length > 400) problems.push(`${written.path} is too long`);
  return problems;
}

const names = (block: string, { name }: Fact) => new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(block);

function tellsValue(block: string, { value, or }: Fact): boolean {
  return (value !== null && new RegExp(`(?<![\\w.])${value}(?![\\w])`).test(block)) || (or?.test(block) ?? false);
}

const isSpelled = (word: string, facts: readonly Fact[]) => facts.some(({ or }) => or?.test(word));

/** From the heading to the next one of its level. */
function sectionOf(text: string, heading: string): string | null {
  const start = new RegExp(`^(#+) ${heading}\\s*$`, "m").exec(text);
  if (!start) return null;
  const rest = text.slice(start.index + start[0].length);
  const end = new RegExp(`^#{1,${start[1]?.length ?? 1}} `, "m").exec(rest.replace(/^```[\s\S]*?^```/gm, masked));
  return start[0] + rest.slice(0, end?.index);
}

const masked = (code: string) => code.replace(/[^\n]/g, " ");

/** A unit for readers: a row, an item, a component or a paragraph. */
function blocksOf(text: string): readonly string[] {
  return splitPage(text)
    .body.replace(/^```[\s\S]*?^```/gm, "")
    .replace(/<(\w+)[^>]*>[\s\S]*?<\/\1>/g, (component) => `\n\n${component.replace(/\n+/g, " ")}\n\n`)
    .split(/\n{2,}|\n(?=\s*(?:[-*+|]|\d+\.)\s?)/)
    .filter((block) => block.trim() !== "" && !block.startsWith("#"));
}

function numbersIn(text: string): readonly string[] {
  return [...text.matchAll(/(?<![\w.-])\d[\d,]*(?![\w-])/g)].map(([number]) => number.replaceAll(",", ""));
}

const wordsIn = (text: string): readonly string[] => text.toLowerCase().match(/[\p{L}']+/gu) ?? [];

const functionWords = new Set(
  "the a an of to and or is are be it its in on for with from by as at that this when if not no each every was were will can may you your how what where which after before under now their they has have does do there nothing because so".split(
    " ",
  ),
);

/** Filler text has few of English's small words. */
function isProse(text: string): boolean {
  const words = wordsIn(text.replace(/`[^`]*`/g, ""));
  if (words.length < 8) return !words.includes("lorem");
  return words.filter((word) => functionWords.has(word)).length / words.length >= 0.12 && !words.includes("lorem");
}

const squeezed = (text: string) => text.replace(/\s+/g, " ").trim();
