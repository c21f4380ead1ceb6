// Makes small changes by a program instead of by hand: every comparison becomes true and false, every callback of a filter
// lets everything through, and every condition of SQL on a lease, a try or a hash goes. A first run of the tests finds which
// of them reach which change; then each change is tried with those tests: npm run mutants:generated -- [--sample N]
// [--seed N] [--only WORDS] [--hits FILE] [--list]
import { existsSync, globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join, relative } from "node:path";
import { parseArgs } from "node:util";
import { seededRandom } from "@emend/testkit/seeded-random.ts";
import { startThrowAwayServer } from "@emend/testkit/throw-away-server.ts";
import { parse } from "acorn";
import { copyOfSources, root } from "./source-copy.ts";
import { openTrials } from "./trials.ts";

interface Mutant {
  /** Its file, line, and a running number: stable as long as the sources are. */
  name: string;
  file: string;
  start: number;
  end: number;
  replace: string;
  /** The expression around it, where a run of the tests notes that it was reached. */
  reached: { start: number; end: number };
}

const everywhere = ["packages/server/src/{accounts,notify,http}/**/*.ts", "packages/{publish,review}/src/**/*.ts"];
const secrets = ["packages/base/src/secrets/*.ts", "packages/base/src/{network,locks}*.ts"];
const fenced = ["packages/server/src/**/*.ts"];

// biome-ignore lint/suspicious/noExplicitAny: acorn's nodes are of many types, and this reads a few fields of each.
type Node = any;

function eachNode(node: Node, visit: (node: Node) => void): void {
  if (!node || typeof node !== "object") return;
  if (Array.isArray(node)) {
    for (const one of node) eachNode(one, visit);
    return;
  }
  if (typeof node.type === "string") visit(node);
  for (const [key, value] of Object.entries(node)) if (key !== "parent") eachNode(value, visit);
}

const comparisons = new Set(["===", "!==", "<", "<=", ">", ">="]);
const filters = new Set(["filter", "find", "some", "every", "findLast"]);
/** A condition of a statement in SQL, on a line of its own or after `where`. */
const guardingCondition =
  /\b(?:and|where) (?:\w+\.)?(?:lease|tries|attempt|\w*hash) (?:=|<>|is not distinct from|is(?: not)? null)(?:(?<! null) (?:\$\d+(?:::\w+)?|[\w.]+))?/g;

function mutantsOf(file: string, isWhole: boolean): Mutant[] {
  const source = readFileSync(join(root, file), "utf8");
  const tree = parse(stripTypeScriptTypes(source, { mode: "strip" }), { ecmaVersion: "latest", sourceType: "module" });
  const found: Omit<Mutant, "name" | "file">[] = [];
  eachNode(tree, (node) => {
    if (isWhole && node.type === "BinaryExpression" && comparisons.has(node.operator)) {
      for (const replace of ["true", "false"]) found.push({ start: node.start, end: node.end, replace, reached: node });
    }
    if (isWhole && node.type === "CallExpression" && filters.has(node.callee.property?.name)) {
      const [callback] = node.arguments;
      if (callback?.type === "ArrowFunctionExpression" && callback.body.type !== "BlockStatement") {
        const { start, end } = callback.body;
        found.push({ start, end, replace: "true", reached: callback.body });
      }
    }
    if (node.type === "TemplateLiteral" || (node.type === "Literal" && typeof node.value === "string")) {
      const text = source.slice(node.start, node.end);
      for (const { 0: condition, index } of text.matchAll(guardingCondition)) {
        const start = node.start + index;
        const replace = condition.startsWith("where") ? "where true" : "";
        // Parameters keep their numbers and types: Postgres refuses a statement that has one without use.
        const used = [...condition.matchAll(/\$\d+(?:::\w+)?/g)].map(([parameter]) => parameter);
        const kept = used.map((one) => ` and ${one.includes("::") ? one : `${one}::text`} is not null`).join("");
        found.push({ start, end: start + condition.length, replace: `${replace}${kept}`, reached: node });
      }
    }
  });
  const lineOf = (offset: number) => source.slice(0, offset).split("\n").length;
  return found.map(({ reached: { start, end }, ...mutant }, index) => {
    const text = source.slice(mutant.start, mutant.end).replaceAll(/\s+/g, " ");
    const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
    return {
      ...mutant,
      reached: { start, end },
      file,
      name: `${file}:${lineOf(mutant.start)} #${index} ${shown} → ${mutant.replace || "nothing"}`,
    };
  });
}

function allMutants(): Mutant[] {
  const sourcesIn = (patterns: readonly string[]) =>
    globSync([...patterns], { cwd: root })
      .filter((file) => !/\.test\.ts$|\.d\.ts$|openapi\.ts$/.test(file))
      .sort();
  const whole = new Set(sourcesIn([...everywhere, ...secrets]));
  return [...new Set([...whole, ...sourcesIn(fenced)])].flatMap((file) => mutantsOf(file, whole.has(file)));
}

/** Writes down each change that a test file's run reaches, in its own processes and in those that it starts. */
const notes = `
import { appendFileSync } from "node:fs";
const seen = new Set();
let of;
globalThis.$reached = (id) => {
  const file = process.env.MUTANT_TEST;
  if (!file) return;
  if (of !== file) { of = file; seen.clear(); }
  if (seen.has(id)) return;
  seen.add(id);
  appendFileSync(process.env.MUTANT_HITS + "/" + file.replaceAll("/", "!"), id + "\\n");
};
`;
const setup = `
import { beforeAll, expect } from "vitest";
process.env.MUTANT_TEST = "";
beforeAll(() => { process.env.MUTANT_TEST = expect.getState().testPath.slice(process.cwd().length + 1); });
`;

const unit = ["--project", "unit"];

interface Reach {
  /** Test files by the place that they reach. */
  tests: Record<string, string[]>;
  millis: Record<string, number>;
}

/** Which test files reach which change, by one run of all of them with a note at each. */
async function findReach(mutants: readonly Mutant[]): Promise<Reach> {
  const copy = copyOfSources();
  try {
    const hitsDir = join(copy, "hits");
    mkdirSync(hitsDir);
    writeFileSync(join(copy, "notes.mjs"), notes);
    writeFileSync(join(copy, "setup.ts"), setup);
    const config = join(copy, "vitest.config.ts");
    writeFileSync(
      config,
      readFileSync(config, "utf8").replace('pool: "forks",', 'pool: "forks", setupFiles: ["./setup.ts"],'),
    );
    for (const [file, ofFile] of Map.groupBy(mutants, ({ file }) => file)) {
      const places = new Map(ofFile.map(({ reached }) => [`${reached.start} ${reached.end}`, reached]));
      let text = readFileSync(join(copy, file), "utf8");
      const marks = [...places.values()].flatMap(({ start, end }) => [
        { at: start, text: `(globalThis.$reached?.(${JSON.stringify(`${file} ${start}`)}), ` },
        { at: end, text: ")" },
      ]);
      // Inner ends come before outer ones, and outer starts before inner ones, at the same place too.
      for (const mark of marks.sort((a, b) => b.at - a.at))
        text = text.slice(0, mark.at) + mark.text + text.slice(mark.at);
      writeFileSync(join(copy, file), text);
    }
    const report = join(copy, "report.json");
    await trials.vitest(copy, [...unit, "--reporter=json", `--outputFile=${report}`], {
      NODE_OPTIONS: `--import ${join(copy, "notes.mjs")}`,
      MUTANT_HITS: hitsDir,
    });
    const results: { name: string; startTime: number; endTime: number }[] = JSON.parse(
      readFileSync(report, "utf8"),
    ).testResults;
    const millis = Object.fromEntries(results.map((one) => [relative(copy, one.name), one.endTime - one.startTime]));
    const tests: Record<string, string[]> = {};
    for (const name of readdirSync(hitsDir)) {
      const test = name.replaceAll("!", "/");
      for (const id of new Set(readFileSync(join(hitsDir, name), "utf8").trim().split("\n"))) {
        tests[id] ??= [];
        tests[id].push(test);
      }
    }
    return { tests, millis };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    hits: { type: "string" },
    list: { type: "boolean" },
  },
});
const all = allMutants().filter(({ name }) => name.includes(values.only));
if (values.list) {
  for (const { name } of all) console.log(name);
  process.exit(0);
}
const server = await startThrowAwayServer();
const trials = openTrials(server.url);
const known: Reach | undefined =
  values.hits && existsSync(values.hits) ? JSON.parse(readFileSync(values.hits, "utf8")) : undefined;
const { tests: testsByPlace, millis } = known ?? (await findReach(all));
if (values.hits && !known) writeFileSync(values.hits, JSON.stringify({ tests: testsByPlace, millis }));
const random = seededRandom(Number(values.seed));
const sample = all
  .map((mutant) => ({ mutant, at: random() }))
  .sort((a, b) => a.at - b.at)
  .slice(0, Number(values.sample))
  .map(({ mutant }) => mutant);

/**
 * The quickest tests that reach a change come first; those that need minutes together are left out. Threads that read
 * untrusted pages have no environment to note it in: for what nothing reached, the tests of its folder.
 */
function testsOf({ file, reached }: Mutant): string[] {
  const nearby = Object.keys(millis).filter((test) => dirname(test) === dirname(file));
  const tests = testsByPlace[`${file} ${reached.start}`] ?? nearby;
  const inOrder = tests.toSorted((a, b) => (millis[a] ?? 0) - (millis[b] ?? 0));
  const chosen: string[] = [];
  for (let left = 90_000; inOrder.length > 0 && left > 0; left -= millis[chosen.at(-1) ?? ""] ?? 0) {
    chosen.push(inOrder.shift() ?? "");
  }
  return chosen;
}

const survivors: string[] = [];
await trials.each(sample, async (copy, mutant) => {
  const tests = testsOf(mutant);
  const path = join(copy, mutant.file);
  const source = readFileSync(path, "utf8");
  writeFileSync(path, source.slice(0, mutant.start) + mutant.replace + source.slice(mutant.end));
  const isNoticed = tests.length > 0 && (await trials.vitest(copy, [...unit, "--bail=1", ...tests])).code !== 0;
  writeFileSync(path, source);
  console.log(`${isNoticed ? "noticed " : tests.length > 0 ? "survived" : "no test "}  ${mutant.name}`);
  if (!isNoticed) survivors.push(mutant.name);
});
await server.stop();
console.log(`\n${sample.length - survivors.length} of ${sample.length} noticed, of ${all.length} in all.`);
