// npm run eval -- answers [--only TEXT] [--questions FOLDER]: right and wrong answers, each as a finished job, judged as a
// job's change is, by code and by a second reader whose answers were recorded.
import { hash } from "node:crypto";
import type { Evidence } from "@emend/base/evidence.ts";
import { createPageReader, reviewChange } from "@emend/review";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { createOverlay } from "@emend/tree";
import { mutantsOf } from "./mutants.ts";
import { askRecordedReader, type RecordedReader, readRecordedReader } from "./recorded-reader.ts";
import type { Files } from "./site-model.ts";
import type { Answer, EvalTask } from "./task.ts";
import { evalTasks } from "./tasks/index.ts";

/** How an answer is wrong. "right": it is not. */
const ways = [
  "right",
  "invented",
  "inverted",
  "wrong source",
  "dropped",
  "untrue summary",
  "wrong page",
  "too much",
  "half",
] as const;
type Way = (typeof ways)[number];

export interface AnswerCase {
  way: Way;
  name: string;
  task: EvalTask;
  answer: Answer & { cited?: Evidence["sources"] };
  /** Not looked into while the rules were written. */
  isFrozen: boolean;
}

const perWay = 12;

/** Every right answer that changes something, and wrong ones made of them. */
export function answerCases(): readonly AnswerCase[] {
  const tasks = evalTasks().filter((task) => task.right.some(({ files }) => changedIn(task.files, files).length > 0));
  const caseOf = (way: Way, task: EvalTask, answer: AnswerCase["answer"]): AnswerCase => {
    const name = `${task.name}: ${answer.name}`;
    return {
      way,
      name,
      task,
      answer,
      isFrozen: Number.parseInt(hash("sha256", `35 ${way} ${name}`).slice(0, 2), 16) < 128,
    };
  };
  const right = tasks.flatMap((task) => task.right.map((answer) => caseOf("right", task, answer)));
  const wrong = ways.slice(1).flatMap((way) => {
    const made = tasks.flatMap((task) => wrongOf(way, task).map((answer) => caseOf(way, task, answer)));
    return made.sort((a, b) => (hash("sha256", a.name) < hash("sha256", b.name) ? -1 : 1)).slice(0, perWay);
  });
  return [...right, ...wrong];
}

function wrongOf(way: Way, task: EvalTask): readonly AnswerCase["answer"][] {
  const [right] = task.right;
  const pages = right
    ? changedIn(task.files, right.files).filter((path) => /\.mdx?$/.test(path) && right.files[path])
    : [];
  const [path = ""] = pages;
  const text = right?.files[path] ?? "";
  if (!right || text === "") return [];
  const withText = (name: string, changed: string) =>
    changed === text ? [] : [{ ...right, name, files: { ...right.files, [path]: changed } }];
  const mutants = (pattern: RegExp) => mutantsOf(task).filter(({ name }) => pattern.test(name));
  switch (way) {
    case "invented":
      return [
        ...mutants(/^an invented/),
        ...withText("an invented variable", `${text.trimEnd()}\n\nSet \`RELAY_DEPTH_LIMIT\` to change this.\n`),
        ...withText("an invented exit code", `${text.trimEnd()}\n\nIt tries 23 ports, then ends with exit code 98.\n`),
      ];
    case "inverted":
    case "wrong source":
      return misquoted(task, right, way);
    case "dropped": {
      const before = task.files[path] ?? "";
      return [
        ...withText("an old section is gone", withoutOldSection(before, text)),
        ...withText("half of the old lines are gone", withoutOldHalf(before, text)),
      ];
    }
    case "untrue summary": {
      const other = Object.keys(task.files).find((one) => /\.mdx?$/.test(one) && !pages.includes(one)) ?? "";
      return [{ ...right, name: "a page that was not edited", summary: `${right.summary} Also updates ${other}.` }];
    }
    case "wrong page":
      return mutants(/wrong place/);
    case "too much":
      return mutants(/^too much/);
    case "half":
      return mutants(/^half done/);
    default:
      return [];
  }
}

/** A value that the cited lines do not have, or lines that do not have the value. */
function misquoted(task: EvalTask, right: Answer, way: Way): readonly AnswerCase["answer"][] {
  return (task.expected.written ?? []).flatMap((written) => {
    const text = right.files[written.path] ?? "";
    return written.facts.flatMap(({ name, value }) => {
      const line = text.split("\n").find((one) => value !== null && one.includes(value) && one.includes(name));
      const cited = written.source.split("\n").find((one) => value !== null && one.includes(value));
      if (!line || !cited || value === null || !/^\d+$/.test(value)) return [];
      if (way === "wrong source") {
        const other = written.source.split("\n").find((one) => one.trim() !== "" && !/\d/.test(one)) ?? "// nothing";
        return [
          {
            ...right,
            name: `${name}, with lines that do not say it`,
            cited: [{ at: "a:1", supports: line, text: other }],
          },
        ];
      }
      const wrong = line.replace(value, `${Number(value) + 5}`);
      const files = { ...right.files, [written.path]: text.replace(line, wrong) };
      return [
        { ...right, name: `another value of ${name}`, files, cited: [{ at: "a:1", supports: wrong, text: cited }] },
      ];
    });
  });
}

/** Without the last section that the page had before. */
function withoutOldSection(before: string, text: string): string {
  const sections = text.split(/^(?=## )/m);
  const at = sections.findLastIndex((section, index) => index > 0 && before.includes(section.split("\n", 1)[0] ?? ""));
  return at === -1 ? text : sections.filter((_, index) => index !== at).join("");
}

const oldLinesMin = 12;

function withoutOldHalf(before: string, text: string): string {
  const lines = before.split("\n").filter((line) => line.trim() !== "");
  if (lines.length < oldLinesMin) return text;
  const gone = new Set(lines.slice(Math.floor(lines.length / 2)));
  return text
    .split("\n")
    .filter((line) => !gone.has(line))
    .join("\n");
}

function changedIn(before: Files, after: Files): readonly string[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((path) => before[path] !== after[path]);
}

const policy = { docsDir: "", allowedPaths: [], filesMax: 1_000, bytesMax: 10_000_000 };
const pageReader = createPageReader();

/** The findings about truth, each of which makes an answer's pull request a draft. */
interface Judgment {
  /** Each begins with its severity: notes make no draft. */
  byCode: readonly string[];
  /** Null: its answer is not recorded. */
  byReader: readonly string[] | null;
}

/** Null: policy refuses it before. */
export async function judgeAnswer(
  trees: TestTrees,
  { task, answer }: AnswerCase,
  reader?: RecordedReader,
): Promise<Judgment | null> {
  const base = await trees.open(task.files);
  const overlay = await createOverlay(base);
  const changed = changedIn(task.files, answer.files);
  for (const path of changed) {
    const text = answer.files[path];
    if (text === undefined) await overlay.delete(path);
    else await overlay.set(path, Buffer.from(text));
  }
  const context = Object.values(task.context ?? {}).flatMap((files) => Object.values(files));
  // Of its own repository an agent reads at least what it edits, and of code what it documents.
  const read = [...changed.map((path) => task.files[path] ?? ""), ...context];
  const sources = task.expected.written?.map(({ source }) => source) ?? [];
  const evidence: Evidence = {
    asked: [task.prompt, ...(task.followUps ?? [])],
    log: [
      ...[...read, ...sources].map((text) => ({ kind: "read" as const, text })),
      ...changed.map((path) => ({ kind: "wrote" as const, text: answer.files[path] ?? "" })),
    ],
    // An honest agent cites what it writes about.
    sources:
      answer.cited ?? sources.map((text) => ({ at: `${task.expected.cites ?? "source"}:1`, supports: "", text })),
  };
  const { title, summary } = answer;
  const input = {
    base,
    overlay,
    policy,
    pageReader,
    asked: evidence.asked,
    evidence,
    title,
    summary,
  };
  const verdict = await reviewChange(input, AbortSignal.timeout(60_000));
  if (verdict.kind === "denied") return null;
  const { candidates = [] } = verdict;
  const byCode = candidates.map(({ severity, path, line, message }) => `${severity} ${path}:${line}: ${message}`);
  const words = { "the title": title, "the summary": summary };
  const change = { diff: (await overlay.diff()).toString(), words, asked: evidence.asked };
  return { byCode, byReader: reader ? await askRecordedReader(reader, change, { evidence, candidates }) : null };
}

export function isError(candidate: string): boolean {
  return candidate.startsWith("error ");
}

interface Row {
  all: number;
  byCode: number;
  asked: number;
  byReader: number;
  drafts: number;
}

/** Prints the table. False: more right answers became drafts, or fewer wrong ones, than the docs promise. */
export async function evaluateAnswers(options: { only: string; questions: string | undefined }): Promise<boolean> {
  const cases = answerCases().filter(({ way, name }) => `${way} ${name}`.includes(options.only));
  const reader = await readRecordedReader(options.questions);
  const trees = await openTestTrees();
  const rows = new Map<string, Row>();
  try {
    for (const one of cases) {
      const judgment = await judgeAnswer(trees, one, reader);
      if (judgment === null) continue;
      const { byCode, byReader } = judgment;
      const isDraft = byCode.some(isError) || (byReader ?? []).length > 0;
      const key = `${one.way}${one.isFrozen ? ", frozen" : ""}`;
      const row = rows.get(key) ?? { all: 0, byCode: 0, asked: 0, byReader: 0, drafts: 0 };
      rows.set(key, {
        all: row.all + 1,
        byCode: row.byCode + Number(byCode.some(isError)),
        asked: row.asked + Number(byReader !== null),
        byReader: row.byReader + Number((byReader ?? []).length > 0),
        drafts: row.drafts + Number(isDraft),
      });
      // What is frozen is counted only.
      if (isDraft === (one.way === "right") && !one.isFrozen) {
        const why = [...byCode, ...(byReader ?? [])][0];
        console.error(`${one.way}: ${one.name}: ${why ?? (byReader ? "no finding" : "no finding, and not read")}`);
      }
    }
  } finally {
    await trees.close();
  }
  console.log(
    "| answers | how many | by code | read | by the reader | drafts |\n| --- | --- | --- | --- | --- | --- |",
  );
  for (const [name, { all, byCode, asked, byReader, drafts }] of rows) {
    console.log(`| ${name} | ${all} | ${byCode} | ${asked} | ${byReader} | ${drafts} |`);
  }
  if (reader.missing > 0) console.error(`${reader.missing} questions have no recorded answer.`);
  const total = (wanted: (way: Way) => boolean) =>
    [...rows]
      .filter(([key]) => wanted(key.replace(", frozen", "") as Way))
      .reduce((sum, [, row]) => ({ all: sum.all + row.all, drafts: sum.drafts + row.drafts }), { all: 0, drafts: 0 });
  const right = total((way) => way === "right");
  const wrong = total((way) => way !== "right");
  console.log(`Drafts: ${right.drafts} of ${right.all} right answers, ${wrong.drafts} of ${wrong.all} wrong ones.`);
  return right.drafts <= right.all * 0.03 && wrong.drafts >= wrong.all * 0.95;
}
