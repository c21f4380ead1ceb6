import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Finding, type PageSample, readSamples, type Site } from "@emend/site";
import type { Tree } from "@emend/tree";
import type { Plan } from "./plan.ts";
import { runOnTree } from "./run-on-tree.ts";
import type { ScriptDeps } from "./run-script.ts";

/** A sample that runs, and what the page states that it prints. */
interface RunSample {
  language: string;
  line: number;
  code: string;
  /** Null: the page states nothing. */
  expected: string | null;
  fails: boolean;
}

interface SampleResult {
  code: number | null;
  output: string;
  words: string;
}

const pagesMax = 20;
const samplesMax = 50;
const script = fileURLToPath(new URL("./run-samples.ts", import.meta.url));
const modules = [fileURLToPath(new URL("./service.ts", import.meta.url))];

const languages: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    shell: "sh shell console shell-session zsh",
    bash: "bash",
    javascript: "js mjs javascript",
    typescript: "ts mts typescript",
    python: "py python python3",
    go: "go golang",
    http: "http",
  }).flatMap(([language, names]) => names.split(" ").map((name) => [name, language])),
);

/** Which samples of a page run: those that are marked, those of a marked page, and those in a language of the settings. */
export function samplesToRun(page: { samples: readonly PageSample[]; isMarked: boolean }, chosen: readonly string[]) {
  const found: RunSample[] = [];
  for (const [index, { language, info, text, line }] of page.samples.entries()) {
    const kind = languages[language];
    const mark = /\bemend:\s?(run|skip)(=fails)?(?![\w-])/.exec(info);
    if (kind === undefined || mark?.[1] === "skip") continue;
    const isMarked = chosen.includes("marked") && (page.isMarked || mark !== null);
    if (!isMarked && !chosen.includes(kind)) continue;
    const next = page.samples[index + 1];
    const stated = next && /(?:^|[\s{,])(?:console-)?output\b/.test(next.info) ? next.text : null;
    const session = sessionOf(text);
    found.push({
      language: kind,
      line,
      code: session?.code ?? text,
      expected: stated ?? session?.expected ?? null,
      fails: mark?.[2] !== undefined,
    });
  }
  return found;
}

/** A sample that shows a prompt before what is typed: the other lines are what is printed. */
function sessionOf(text: string): { code: string; expected: string | null } | null {
  const lines = text.split("\n");
  if (!lines[0]?.startsWith("$ ")) return null;
  const typed = lines.filter((line) => line.startsWith("$ ")).map((line) => line.slice(2));
  const printed = lines.filter((line) => !line.startsWith("$ "));
  const isSilent = printed.every((line) => line.trim() === "");
  return { code: typed.join("\n"), expected: isSilent ? null : printed.join("\n") };
}

/** Runs the samples of the changed pages, each page in a sandbox of its own, on the files of the change. */
export async function judgeSamples(
  deps: ScriptDeps,
  task: {
    base: Site;
    head: Site;
    tree: Tree;
    paths: readonly string[];
    plan: Pick<Plan, "mounts" | "packageFolders">;
    settings: { samples: readonly string[]; service: string | null };
    /** The commit whose code the samples ran with. */
    commit: string;
  },
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  let [passed, pages, left] = [0, 0, 0];
  for (const path of task.paths) {
    const page = await readSamples(task.head, path);
    const found = page ? samplesToRun(page, task.settings.samples) : [];
    const samples = pages < pagesMax ? found.slice(0, samplesMax) : [];
    left += found.length - samples.length;
    if (samples.length === 0) continue;
    pages += 1;
    const known = await readSamples(task.base, path);
    const before = known ? samplesToRun(known, task.settings.samples) : [];
    const isOld = (one: RunSample) =>
      before.some(({ code, expected }) => code === one.code && expected === one.expected);
    const answer = await runPage(deps, { ...task, samples }, signal);
    if (typeof answer === "string") {
      findings.push(about(path, 1, "warning", `the samples did not run: ${answer}`));
      continue;
    }
    for (const [index, sample] of samples.entries()) {
      const problem = problemOf(sample, answer[index] as SampleResult);
      if (problem === null) passed += 1;
      else findings.push(about(path, sample.line, isOld(sample) ? "warning" : problem.severity, problem.words));
    }
  }
  if (passed > 0) {
    const today = new Date().toISOString().slice(0, 10);
    const ran = passed === 1 ? "1 sample ran" : `${passed} samples ran`;
    const words = `${ran} as the pages say, on ${today} with the code of ${task.commit.slice(0, 10)}`;
    findings.push(about("the site", 1, "info", words));
  }
  if (left > 0) {
    const words = `samples that did not run: ${left}. A job runs ${samplesMax} on each of ${pagesMax} pages`;
    findings.push(about("the site", 1, "warning", words));
  }
  return findings;
}

async function runPage(
  deps: ScriptDeps,
  task: {
    tree: Tree;
    plan: Pick<Plan, "mounts" | "packageFolders">;
    samples: readonly RunSample[];
    settings: { service: string | null };
  },
  signal: AbortSignal,
): Promise<readonly SampleResult[] | string> {
  const dir = await mkdtemp(join(tmpdir(), "emend-samples-"));
  try {
    const { service } = task.settings;
    const order = join(dir, "order.json");
    const samples = task.samples.map(({ language, code }) => ({ language, code }));
    await writeFile(order, JSON.stringify({ service, samples }));
    const own = { script, modules, order, name: "the samples" };
    const end = await runOnTree(deps, { ...task, ...own, siteFile: join(dir, "site") }, signal);
    if (end.kind === "stopped") return end.words;
    return readResults(end.output, samples.length) ?? "a sample ended the program that runs them";
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

/** Samples run beside the program that reports on them, so its report may be anything. */
export function readResults(text: string, count: number): readonly SampleResult[] | null {
  try {
    const results = JSON.parse(text) as readonly SampleResult[];
    const isPlain = ({ code, output, words }: SampleResult) =>
      (code === null || Number.isInteger(code)) && typeof output === "string" && typeof words === "string";
    return Array.isArray(results) && results.length === count && results.every(isPlain) ? results : null;
  } catch {
    return null;
  }
}

function problemOf(
  { expected, fails, language }: RunSample,
  { code, output, words }: SampleResult,
): { severity: "error" | "warning"; words: string } | null {
  if (code === null && words.startsWith("needs ")) return { severity: "warning", words: `this sample ${words}` };
  if (code === null) return { severity: "error", words: `this sample did not run: ${words}${said(output)}` };
  if (fails && code === 0) return { severity: "error", words: "this sample is said to fail, and ended with code 0" };
  if (!fails && code !== 0) {
    return {
      severity: "error",
      words: `this sample ended with code ${code}${words && `: it ${words}`}${said(output)}`,
    };
  }
  if (expected === null) return null;
  const differs = firstDifference(expected, language === "http" && !/^HTTP\//.test(expected) ? bodyOf(output) : output);
  return differs === null ? null : { severity: "error", words: differs };
}

const bodyOf = (answer: string) => answer.slice(answer.indexOf("\n\n") + 2);

function said(output: string): string {
  const last = output.trim().split("\n").slice(-3).join(" ").slice(-300);
  return last === "" ? "" : `: ${last}`;
}

/** Null: they say the same, apart from times, ids and lines that the page leaves out with `...`. */
export function firstDifference(expected: string, output: string): string | null {
  const [json, answer] = [asJson(expected), asJson(output)];
  const [want, have] = json !== null && answer !== null ? [json, answer] : [linesOf(expected), linesOf(output)];
  let at = 0;
  let isOpen = false;
  for (const line of want) {
    if (/^(?:\.\.\.|…)$/.test(line)) {
      isOpen = true;
      continue;
    }
    const found = isOpen ? have.indexOf(line, at) : have[at] === line ? at : -1;
    if (found === -1) return `the page states ${quote(line)} where this sample prints ${quote(have[at] ?? "nothing")}`;
    at = found + 1;
    isOpen = false;
  }
  const rest = isOpen ? undefined : have[at];
  return rest === undefined ? null : `this sample also prints ${quote(rest)}, which the page does not state`;
}

const quote = (line: string) => (line === "nothing" ? line : JSON.stringify(line.slice(0, 120)));

function linesOf(text: string): readonly string[] {
  return text
    .trim()
    .split("\n")
    .map((line) => withoutChance(line.trimEnd()));
}

function asJson(text: string): readonly string[] | null {
  try {
    const sorted = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(sorted);
      if (value === null || typeof value !== "object") return value;
      return Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, inner]) => [key, sorted(inner)]),
      );
    };
    const value = JSON.parse(text);
    return typeof value === "object" ? linesOf(JSON.stringify(sorted(value), null, 1)) : null;
  } catch {
    return null;
  }
}

/** What differs from run to run: times, durations, and ids. */
function withoutChance(line: string): string {
  return line
    .replaceAll(/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?/g, "<time>")
    .replaceAll(/\b\d\d:\d\d(?::\d\d(?:\.\d+)?)?\b/g, "<time>")
    .replaceAll(/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/gi, "<id>")
    .replaceAll(/\b(?=[a-f]*\d)[0-9a-f]{12,}\b/gi, "<id>")
    .replaceAll(/\b\d+(?:\.\d+)?\s?(?:ns|µs|ms|s|seconds?)\b/g, "<duration>");
}

function about(path: string, line: number, severity: Finding["severity"], message: string): Finding {
  return { check: "sample", severity, path, line, column: 1, message };
}
