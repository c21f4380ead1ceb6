import { afterAll, beforeAll, expect, test } from "vitest";
import { evaluate } from "../eval/evaluate.ts";
import { formatTable } from "../eval/table.ts";
import { type EvalTask, kinds } from "../eval/task.ts";
import { evalTasks } from "../eval/tasks/index.ts";
import { createRulesModel } from "../src/agent/rules/rules-model.ts";
import { type ScriptedTurn, scriptedModel } from "./support/scripted-model.ts";
import { openTestTrees, type TestTrees } from "./support/test-tree.ts";

let trees: TestTrees;
beforeAll(async () => {
  trees = await openTestTrees();
});
afterAll(() => trees.close());

// One framework: all of them take `npm run eval -- --model emend/rules`.
const tasks = evalTasks().filter((task) => task.name.startsWith("mkdocs:"));
const run = (model: ReturnType<typeof createRulesModel>, chosen: readonly EvalTask[]) =>
  evaluate(model, chosen, { open: (files) => trees.open({ ...files }) }, AbortSignal.timeout(60_000));
const taskOf = (name: string) => tasks.filter((task) => task.name === `mkdocs: ${name}`);

test("there are thirty tasks and more, at least three of each kind", () => {
  const all = evalTasks();
  expect(all.length).toBeGreaterThanOrEqual(30);
  for (const kind of kinds) expect(all.filter((task) => task.kind === kind).length).toBeGreaterThanOrEqual(3);
});

test("emend/rules passes every task that it must", async () => {
  const rows = await run(
    createRulesModel(),
    tasks.filter((task) => task.rulesMustPass),
  );
  expect(rows.flatMap(({ task, result }) => result.problems.map((problem) => `${task.name}: ${problem}`))).toEqual([]);
});

const finish: ScriptedTurn = [["finish", { title: "T", summary: "S" }]];

test("an agent that does nothing passes only where nothing is to be done", async () => {
  const rows = await run(
    scriptedModel(() => finish),
    tasks,
  );
  const passed = rows.filter(({ result }) => result.problems.length === 0).map(({ task }) => task.kind);
  expect(new Set(passed)).toEqual(new Set(["refuse the impossible", "change nothing"]));
});

test("an agent that writes what was asked passes, and its turns and tokens are told", async () => {
  const content =
    "---\ntitle: sendMessage\n---\n\n`sendMessage(channel, text, attempts)`: `channel`, `text`, `attempts` (3).\n";
  const model = scriptedModel(
    (turn) =>
      [
        [["write_file", { path: "docs/reference/send-message.md", content }]],
        [["update_navigation", { add: "docs/reference/send-message.md", group: "Reference" }]],
        finish,
      ][turn] as ScriptedTurn,
    { costUsd: 0.01 },
  );
  const [row] = await run(model, taskOf("a new page"));
  expect(row?.result).toMatchObject({ problems: [], turns: 3, tokens: 33 });
  const table = formatTable("test/scripted", row ? [row] : []);
  expect(table).toContain("| document a function | 1 of 1 | 3 | 33 | $0.0300 |");
});

test("an agent that reads a context repository and cites it passes; one that cites nothing does not", async () => {
  const newText = "## Limits\n\nA channel sends 42 messages a minute.\n\n## Listening";
  const script = (sources: readonly string[]) => {
    const turns: readonly ScriptedTurn[] = [
      [["search", { pattern: "messagesPerMinuteMax", under: "@service" }]],
      [["edit_file", { path: "docs/reference/options.md", oldText: "## Listening", newText }]],
      [["finish", { title: "T", summary: "S", sources }]],
    ];
    return (turn: number) => turns[turn] ?? finish;
  };
  const chosen = taskOf("a limit in an existing page");
  const cited = await run(scriptedModel(script(["@service/src/quota.ts:4"])), chosen);
  expect(cited.flatMap(({ result }) => result.problems)).toEqual([]);
  const silent = await run(scriptedModel(script([])), chosen);
  expect(silent.flatMap(({ result }) => result.problems)).toEqual(["it does not cite @service/src/quota.ts"]);
});

test("an agent that obeys a page fails, and so does one that breaks a link", async () => {
  const obedient = scriptedModel((turn) =>
    turn === 0 ? [["delete_file", { path: "docs/guides/tokens.md" }]] : finish,
  );
  const rows = await run(obedient, [...taskOf("while a term is replaced"), ...taskOf("no link is broken")]);
  for (const { result } of rows) expect(result.problems).not.toEqual([]);
  expect(rows[0]?.result.problems.join()).toContain("on a page's word");
});
