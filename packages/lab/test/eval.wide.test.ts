// Costly: a task is judged by the pull request that a whole server opens.
import { join } from "node:path";
import { type FarModel, type FarTurn, protocols, startFarModel } from "@emend/testkit/far-model.ts";
import { createInstallation, type Installation } from "@emend/testkit/whole-server.ts";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { loadRun } from "../../server/src/jobs/run/record-work.ts";
import { judge } from "../eval/judge.ts";
import { mutantsOf, wrongTurns } from "../eval/mutants.ts";
import type { Product } from "../eval/product.ts";
import { recordings } from "../eval/recordings.ts";
import { compareTables, evaluate, formatTable } from "../eval/table.ts";
import type { EvalTask } from "../eval/task.ts";
import { evalTasks } from "../eval/tasks/index.ts";

const tasks = evalTasks();

test("there are a hundred tasks, ten of them follow-ups, ten injections and ten that change nothing", () => {
  expect(tasks.length).toBeGreaterThanOrEqual(100);
  for (const kind of ["follow-up", "resist injected orders", "change nothing"]) {
    expect(tasks.filter((task) => task.kind === kind).length, kind).toBeGreaterThanOrEqual(10);
  }
  expect(new Set(tasks.map(({ name, kind }) => `${kind}, ${name}`)).size).toBe(tasks.length);
});

test("every task passes two different right answers and fails six wrong ones", () => {
  const wrongful: string[] = [];
  for (const task of tasks) {
    const label = `${task.kind}, ${task.name}`;
    expect(new Set(task.right.map((answer) => JSON.stringify(answer))).size, label).toBeGreaterThanOrEqual(2);
    for (const answer of task.right) {
      const problems = judge(task, answer);
      if (problems.length > 0) wrongful.push(`${label}: "${answer.name}" is refused: ${problems[0]}`);
    }
    const mutants = [...mutantsOf(task), ...(task.wrong ?? [])];
    expect(mutants.length, label).toBeGreaterThanOrEqual(6);
    for (const mutant of mutants) {
      if (judge(task, mutant).length === 0) wrongful.push(`${label}: "${mutant.name}" passes`);
    }
  }
  expect(wrongful).toEqual([]);
});

describe("on a running installation", () => {
  let installation: Installation;
  let product: Product;
  let far: FarModel;
  let script: (turn: number) => FarTurn;
  const language = protocols[0];
  beforeAll(async () => {
    far = await startFarModel((turn) => script(turn));
    installation = await createInstallation({ ...far.environment });
    product = {
      server: await installation.start(),
      forgeDir: installation.forgeDir,
      scratchDir: installation.dir,
      readSteps: async (jobId) => (await loadRun(installation.database.pool, jobId)).steps as never,
    };
  });
  afterAll(async () => {
    await installation.remove();
    await far.stop();
  });

  const named = (...names: readonly string[]) => tasks.filter(({ name }) => names.includes(name));
  const run = (model: string, chosen: readonly EvalTask[]) =>
    evaluate(product, model, chosen, {}, AbortSignal.timeout(100_000));

  // To run all of them, on every framework: `npm run eval -- --model emend/rules`.
  it("emend/rules passes what it must", async () => {
    const chosen = named(
      "mkdocs: a page into a new folder",
      "docusaurus: a term, and back on one page",
      "mintlify: a page that is not there",
      "mintlify: a picture that a page asks for",
    );
    expect(chosen).toHaveLength(4);
    const rows = await run("emend/rules", chosen);
    expect(rows.flatMap(({ task, problems }) => problems.map((problem) => `${task.name}: ${problem}`))).toEqual([]);
  });

  it("fails an agent that only finishes, and tells what it used", async () => {
    script = () => [["finish", { title: "Update the docs", summary: "Done." }]];
    const chosen = named("mkdocs: a title, then a description", "mkdocs: the term is not used");
    const rows = await run(language, chosen);
    for (const { task, problems } of rows) expect(problems, task.name).not.toEqual([]);
    const table = formatTable(language, rows);
    expect(table).toContain("| follow-up | 0 of 1 | 2 | 2000 | 200 |");
    expect(
      compareTables([
        { model: "a", rows },
        { model: "b", rows },
      ]),
    ).toContain("| b | 0 of 2 |");
  });

  // To run all of them: `npm run eval -- --model wrong`.
  it("fails an agent that is wrong in a different way on each task", async () => {
    const chosen = named(
      "mkdocs: another default",
      "mkdocs: a limit in an existing page",
      "mkdocs: a question that nothing answers",
    );
    expect(chosen).toHaveLength(3);
    for (const [index, task] of chosen.entries()) {
      const wrong = wrongTurns(task, 3 + index);
      script = wrong.turns;
      const [row] = await run(language, [task]);
      expect(row?.problems, wrong.name).not.toEqual([]);
    }
  });

  it("passes an agent that writes what was asked, and counts what its tools gave", async () => {
    const newText = "## Limits\n\nA channel may send 42 messages in a minute.\n\n## Listening";
    const words = { title: "Document the limit of a channel", summary: "The options page says what the limit is." };
    const finish: FarTurn = [["finish", { ...words, sources: ["@service/src/quota.ts:4"] }]];
    const turns: readonly FarTurn[] = [
      [["search", { pattern: "messagesPerMinuteMax", under: "@service" }]],
      [["edit_file", { path: "docs/reference/options.md", oldText: "## Listening", newText }]],
    ];
    script = (turn) => turns[turn] ?? finish;
    const [row] = await run(language, named("mkdocs: a limit in an existing page"));
    expect(row?.problems).toEqual([]);
    expect(row?.figures.tokensByTool).toMatchObject({ search: expect.any(Number) });
  });

  it("replays a strong model's recorded runs at the figures that are kept", async () => {
    const figures: Record<string, unknown> = {};
    for (const { task: name, turns } of recordings) {
      // After its recorded answers, a recorded model confirms everything that it is shown.
      script = (turn) => (turns[turn] as FarTurn | undefined) ?? [["finish", {}]];
      far.requests.length = 0;
      const [row] = await run(language, named(name).slice(0, 1));
      expect(row?.problems, name).toEqual([]);
      // The sent text, at four characters per token: a scripted vendor does not count tokens.
      const sent = far.requests.map(({ messages, tools }) => JSON.stringify({ messages, tools }).length);
      const inputTokens = Math.round(sent.reduce((sum, length) => sum + length, 0) / 4);
      figures[name] = { turns: row?.figures.turns, inputTokens, tokensByTool: row?.figures.tokensByTool };
    }
    // `npm run unit -- packages/lab/test/eval.wide.test.ts -u` stores new figures. The diff shows what they cost.
    const kept = join(import.meta.dirname, "../eval/recorded-figures.json");
    await expect(`${JSON.stringify(figures, null, 2)}\n`).toMatchFileSnapshot(kept);
  });
});
