// npm run eval -- truth [--judged] [--changes [--model NAME]] [--only REGEX] [--from FOLDER]: stale references in the history of real repositories, judged by hand,
// and how many of the removals that a seeded script plants are found. Needs ctags (universal-ctags) and python3.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { appendFileSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { Model } from "@emend/agent";
import type { Question } from "../../server/src/claims/drift/reader.ts";
import { evaluateChanges } from "./truth-changes.ts";
import { Confirmed, confirmReplayed, sampled } from "./truth-confirm.ts";
import { plantRemovals } from "./truth-planting.ts";
import { type Repository, replay } from "./truth-replay.ts";

/** A repository with code and docs together, pinned to a commit. Paths that match `outside` are neither. */
interface Pinned {
  name: string;
  commit: string;
  docs: readonly string[];
  outside?: string;
  /** How far back, and how many commits are one change: most commits make nothing stale. */
  commits: number;
  stride: number;
}

interface Judgment {
  repository: string;
  commit: string;
  page: string;
  line?: number;
  reference: string;
  verdict: "right" | "wrong";
  why: string;
}

const precisionMin = 0.95;
const recallMin = 0.9;
const firstMax = 100;

interface TruthOptions {
  cacheDir: string;
  from: string | undefined;
  only: string;
  /** Only the changes with judged findings, of the clones that are there: minutes instead of hours, and nothing is planted. */
  judged?: boolean;
  /** The folder to which questions to the confirmer are written, and from which its answers are read. */
  questions?: string | undefined;
}

/** Changes in which people changed the docs with the code. `model`: asks it, and records its answers. */
export async function evaluateRealChanges(
  options: TruthOptions & {
    model: Model | null;
    questions: string | undefined;
    json: string | undefined;
    replays: boolean;
  },
): Promise<void> {
  const { model, questions, replays, json } = options;
  await evaluateChanges({
    clone: (repository) => cloneWhole(repository, options),
    repositories: readList<Pinned>("truth-changes.jsonl")
      .filter(({ name }) => new RegExp(options.only).test(name))
      .map(({ outside, ...one }) => ({ ...one, ...(outside !== undefined && { outside: new RegExp(outside) }) })),
    replays,
    ...(json !== undefined && { onCosts: (costs) => appendFileSync(json, `${JSON.stringify(costs)}\n`) }),
    recorded: existsSync(recordings) ? readList("truth-answers.jsonl") : [],
    ...(questions !== undefined && { ask: async (question) => exchange(questions, question) }),
    ...(model && { ask: (question) => askAndRecord(model, question) }),
  });
}

const recordings = join(import.meta.dirname, "truth-answers.jsonl");

const keyOf = (question: Question) => createHash("sha256").update(JSON.stringify(question)).digest("hex");

/** Writes a question to FOLDER/KEY.txt, and records the answer of FOLDER/KEY.json once it is there. */
function exchange(folder: string, question: Question): unknown {
  const key = keyOf(question);
  const given = join(folder, `${key}.json`);
  if (!existsSync(given)) {
    writeFileSync(join(folder, `${key}.txt`), `${question.system}\n\n${question.text}\n`);
    return undefined;
  }
  const answer: unknown = JSON.parse(readFileSync(given, "utf8"));
  appendFileSync(recordings, `${JSON.stringify({ model: "by hand", question: key, answer })}\n`);
  return answer;
}

async function askAndRecord(model: Model, question: Question): Promise<unknown> {
  const { system, text, tool } = question;
  const messages = [{ role: "user" as const, text }];
  const { toolCalls } = await model.nextTurn({ system, messages, tools: [tool] }, AbortSignal.timeout(120_000));
  const answer = toolCalls[0]?.input ?? null;
  const key = keyOf(question);
  appendFileSync(recordings, `${JSON.stringify({ model: model.name, question: key, answer })}\n`);
  return answer;
}

export async function evaluateTruth(options: TruthOptions): Promise<boolean> {
  const judgments = readList<Judgment>("truth-judgments.jsonl");
  const all = new Tally();
  const confirmed = new Confirmed();
  const answers = new Map(
    readList<{ question: string; answer: unknown }>("truth-answers.jsonl").map((one) => [one.question, one.answer]),
  );
  const first: string[] = [];
  for (const { outside, ...pinned } of readList<Pinned>("truth-repositories.jsonl")) {
    if (!new RegExp(options.only).test(pinned.name)) continue;
    const repository: Repository = { ...pinned, ...(outside !== undefined && { outside: new RegExp(outside) }) };
    const judged = judgments.filter((one) => one.repository === repository.name);
    if (options.judged && (judged.length === 0 || !isCloned(pinned, options))) continue;
    const gitDir = await cloneWhole(pinned, options);
    const found = new Map<string, { kind: string; page: string; isCertain: boolean }>();
    const changes = { ...pinned, ...(options.judged && { only: judged.map(({ commit }) => commit) }) };
    const verdicts = new Map(judged.map(({ commit, reference, verdict }) => [`${commit} ${reference}`, verdict]));
    const { commits, references } = await replay(gitDir, repository, changes, async (replayed) => {
      const { commit, stale } = replayed;
      const key = `${commit.slice(0, 9)} ${stale.gone}`;
      const { reference, cause, isCertain } = stale;
      if (found.has(key)) return;
      found.set(key, { kind: `${cause.kind} ${reference.kind}`, page: reference.page, isCertain });
      const verdict = verdicts.get(key);
      const { half, isAsked } = sampled(repository.name, key);
      if (!options.judged || verdict === undefined || !isAsked) return;
      const ask = async (question: Question) =>
        answers.get(keyOf(question)) ?? (options.questions && exchange(options.questions, question));
      confirmed.add(half, verdict, await confirmReplayed(gitDir, repository, replayed, ask));
    });
    const planting = options.judged ? nothingPlanted : await plantRemovals(gitDir, repository);
    const own = new Tally();
    own.plant(planting);
    for (const [key, { isCertain }] of found) {
      const verdict = verdicts.get(key);
      own.judge(verdict, isCertain);
      if (verdict !== undefined) first.push(verdict);
    }
    console.log(`${repository.name}  ${commits} commits, ${references} references  ${own}`);
    for (const [key, { kind, page, isCertain }] of found) {
      const verdict = verdicts.get(key) ?? "not judged";
      if (verdict !== "right" || options.judged)
        console.log(`  ${verdict}${isCertain ? "" : " (warning)"}: ${kind} ${key} (${page})`);
    }
    for (const { kind, text, page } of planting.missed) console.log(`  missed: ${kind} ${text} (${page})`);
    all.add(own);
  }
  if (options.judged) console.log(`${confirmed}`);
  const rightOf = first.slice(0, firstMax).filter((verdict) => verdict === "right").length;
  const firstOnes = Math.min(firstMax, first.length);
  console.log(`all: ${all} (aims: ${precisionMin} of the errors, ${recallMin} of the planted removals)`);
  console.log(`of the first ${firstOnes} judged findings, ${rightOf} are right (aim: ${precisionMin})`);
  return rightOf >= firstOnes * precisionMin && all.isRight();
}

const nothingPlanted = { planted: 0, seen: 0, certain: 0, missed: [] };

/** Errors are findings that are certain; the others are warnings. */
class Tally {
  errors = { right: 0, wrong: 0 };
  warnings = { right: 0, wrong: 0 };
  open = 0;
  planted = 0;
  seen = 0;
  certain = 0;

  judge(verdict: Judgment["verdict"] | undefined, isCertain: boolean): void {
    if (verdict === undefined) this.open++;
    else this[isCertain ? "errors" : "warnings"][verdict]++;
  }

  plant({ planted, seen, certain }: { planted: number; seen: number; certain: number }): void {
    this.planted += planted;
    this.seen += seen;
    this.certain += certain;
  }

  add(other: Tally): void {
    for (const kind of ["errors", "warnings"] as const)
      for (const verdict of ["right", "wrong"] as const) this[kind][verdict] += other[kind][verdict];
    this.open += other.open;
    this.plant(other);
  }

  isRight(): boolean {
    const { right, wrong } = this.errors;
    return right >= (right + wrong) * precisionMin && this.seen >= this.planted * recallMin;
  }

  toString(): string {
    const share = ({ right, wrong }: { right: number; wrong: number }) => `${right} of ${right + wrong} right`;
    return `errors: ${share(this.errors)}, warnings: ${share(this.warnings)}, not judged: ${this.open}, planted removals found: ${this.seen} of ${this.planted}, ${this.certain} as errors`;
  }
}

function readList<T>(name: string): readonly T[] {
  const lines = readFileSync(join(import.meta.dirname, name), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => JSON.parse(line));
}

function placeOf({ name }: { name: string }, { cacheDir, from }: TruthOptions): string | undefined {
  const folder = name.replace("/", "+");
  if (from === undefined) return join(cacheDir, `${folder}-whole.git`);
  const places = [join(from, folder), join(from, folder, ".git"), join(from, folder, "repo")];
  return places.find((place) => existsSync(join(place, "objects")));
}

function isCloned(repository: { name: string }, options: TruthOptions): boolean {
  return existsSync(placeOf(repository, options) ?? "");
}

/** A clone with its history; with `from`, one that lies in that folder as `owner+name`. */
async function cloneWhole({ name, commit }: { name: string; commit: string }, options: TruthOptions): Promise<string> {
  const dir = placeOf({ name }, options);
  if (dir === undefined) throw new Error(`${options.from} has no clone of ${name}`);
  if (options.from !== undefined) return dir;
  await mkdir(options.cacheDir, { recursive: true });
  if (!existsSync(dir)) execFileSync("git", ["clone", "--quiet", "--bare", `https://github.com/${name}`, dir]);
  execFileSync("git", ["-C", dir, "update-ref", "--no-deref", "HEAD", commit]);
  return dir;
}
