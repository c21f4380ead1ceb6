// npm run eval -- --model NAME [--only TEXT]
import { parseArgs } from "node:util";
import { openModel } from "../src/agent/models/registry.ts";
import { loadConfig } from "../src/config/config.ts";
import { openTestTrees } from "../test/support/test-tree.ts";
import { evaluate } from "./evaluate.ts";
import { formatTable } from "./table.ts";
import { evalTasks } from "./tasks/index.ts";

const { values } = parseArgs({ options: { model: { type: "string" }, only: { type: "string" } } });
const config = loadConfig(process.env);
const name = values.model ?? config.model;
const model = await openModel(
  { endpoints: config.modelEndpoints, prices: config.modelPrices, fetch: globalThis.fetch, keyOf: async () => null },
  { name, projectId: null },
);
const tasks = evalTasks().filter((task) => `${task.kind}, ${task.name}`.includes(values.only ?? ""));
const trees = await openTestTrees();
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
try {
  const rows = await evaluate(
    model,
    tasks,
    {
      open: (files) => trees.open({ ...files }),
      onResult: ({ task, result }) =>
        console.error(`${result.problems.length === 0 ? "✓" : "✗"} ${task.kind}, ${task.name}`),
    },
    stop.signal,
  );
  console.log(formatTable(name, rows));
  const isRules = model.nature === "rules";
  const failed = rows.filter(({ task, result }) => result.problems.length > 0 && (!isRules || task.rulesMustPass));
  process.exitCode = failed.length === 0 ? 0 : 1;
} finally {
  await trees.close();
}
