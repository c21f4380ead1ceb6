// npm run eval -- [tokens | mutants | truth | answers | content | phrasings] [--model NAME | --runner NAME] [--against NAME] [--only TEXT] [--json FILE] [--real] [--judged] [--changes] [--from FOLDER] [--questions FOLDER]
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openModel } from "@emend/agent";
import { createLogger } from "@emend/base/logger.ts";
import { rulesModelName } from "@emend/base/model-names.ts";
import { startServer } from "../../server/src/compose/compose.ts";
import { loadConfig } from "../../server/src/config/config.ts";
import { forgeDirOf } from "../../server/src/installation/local-git.ts";
import { openDatabase } from "../../server/src/installation/open-database.ts";
import { loadRun } from "../../server/src/jobs/run/record-work.ts";
import { evaluateContent } from "./content.ts";
import { startWrongBot } from "./mutants.ts";
import { evaluatePhrasings } from "./phrasings.ts";
import { judgeRealMutants } from "./real-mutants.ts";
import { evaluateReal } from "./real-tasks.ts";
import { compareTables, type EvalRow, evaluate, formatTable } from "./table.ts";
import { evalTasks } from "./tasks/index.ts";
import { measureTokens } from "./tokens.ts";
import { evaluateRealChanges, evaluateTruth } from "./truth.ts";
import { evaluateAnswers } from "./untrue-answers.ts";

const cacheDir = join(import.meta.dirname, "../../../node_modules/.cache/emend-eval");
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    model: { type: "string" },
    /** claude-code, codex or opencode: short for --model runner/NAME. */
    runner: { type: "string" },
    against: { type: "string" },
    only: { type: "string" },
    json: { type: "string" },
    real: { type: "boolean", default: false },
    /** Of `truth`: only the changes whose findings were judged. */
    judged: { type: "boolean", default: false },
    /** Of `truth`: only the changes in which people changed the docs with the code. */
    changes: { type: "boolean", default: false },
    from: { type: "string" },
    questions: { type: "string" },
    /** Of --changes, only what the model was asked. */
    answered: { type: "boolean", default: false },
  },
});
if (positionals[0] === "tokens") {
  const isRight = await measureTokens({ cacheDir, from: values.from }, AbortSignal.timeout(30 * 60_000));
  process.exit(isRight ? 0 : 1);
}
if (positionals[0] === "mutants") {
  const options = { cacheDir, from: values.from, only: values.only ?? "" };
  process.exit((await judgeRealMutants(options, AbortSignal.timeout(30 * 60_000))) ? 0 : 1);
}
if (positionals[0] === "truth" && values.changes) {
  const { modelEndpoints: endpoints, modelPrices: prices } = loadConfig(process.env, { dataDir: tmpdir() });
  const deps = { endpoints, prices, fetch: globalThis.fetch, keyOf: async () => null };
  const model = values.model === undefined ? null : await openModel(deps, { name: values.model, projectId: null });
  const { from, only = "", questions, answered, json } = values;
  await evaluateRealChanges({ cacheDir, from, only, model, questions, json, replays: !answered });
  process.exit(0);
}
if (positionals[0] === "truth") {
  const { from, only = "", judged, questions } = values;
  process.exit((await evaluateTruth({ cacheDir, from, only, judged, questions })) ? 0 : 1);
}
if (positionals[0] === "answers") {
  process.exit((await evaluateAnswers({ only: values.only ?? "", questions: values.questions })) ? 0 : 1);
}
if (positionals[0] === "content") {
  process.exit((await evaluateContent({ from: values.from ?? ".", only: values.only ?? "" })) ? 0 : 1);
}
if (positionals[0] === "phrasings") {
  evaluatePhrasings();
  process.exit(0);
}
const dir = await mkdtemp(join(tmpdir(), "emend-eval-"));
const stop = new AbortController();
process.once("SIGINT", () => stop.abort());
// A separate installation: it uses the operator's model settings, but not their database and folders.
const { EMEND_DATABASE_URL: _database, EMEND_PUBLIC_URL: _url, ...environment } = process.env;
// "wrong": an agent that is wrong in a different way on each task. It must pass none.
const bot = values.model === "wrong" ? await startWrongBot() : null;
const settings = { EMEND_LOG_LEVEL: "error", ...environment, ...bot?.environment };
const config = loadConfig(settings, { dataDir: dir, port: 0, host: "127.0.0.1" });
const chosen = values.runner === undefined ? values.model : `runner/${values.runner}`;
const models = [chosen ?? config.model, ...(values.against === undefined ? [] : [values.against])];
const tasks = evalTasks().filter((task) => `${task.kind}, ${task.name}`.includes(values.only ?? ""));
const server = await startServer(config, { logTo: process.stderr });
const log = createLogger({ level: "silent" });
const database = await openDatabase({ config, log, connectionsMax: 1, holder: "command", signal: stop.signal });
try {
  const product = {
    server,
    forgeDir: forgeDirOf(config),
    scratchDir: dir,
    readSteps: async (jobId: string) => (await loadRun(database.pool, jobId)).steps as never,
  };
  const results: { model: string; rows: readonly EvalRow[] }[] = [];
  for (const model of models) {
    const onResult = ({ task, problems }: EvalRow) =>
      console.error(
        `${problems.length === 0 ? "✓" : "✗"} ${model}  ${task.kind}, ${task.name}${problems[0] ? `: ${problems[0]}` : ""}`,
      );
    const options = { cacheDir, only: values.only ?? "", from: values.from, onResult };
    const rows = bot
      ? await bot.evaluate(product, tasks, onResult, stop.signal)
      : values.real
        ? await evaluateReal(product, model, options, stop.signal)
        : await evaluate(product, model, tasks, { onResult }, stop.signal);
    results.push({ model, rows });
  }
  for (const { model, rows } of results) console.log(formatTable(model, rows));
  if (results.length > 1) console.log(compareTables(results));
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(results, null, 2)}\n`);
  const failed = results.flatMap(({ model, rows }) =>
    rows.filter(({ task, problems }) => problems.length > 0 && (model !== rulesModelName || task.rulesMustPass)),
  );
  const count = results.reduce((sum, { rows }) => sum + rows.length, 0);
  process.exitCode = failed.length === (bot ? count : 0) ? 0 : 1;
} finally {
  await database.close();
  await server.stop();
  await bot?.stop();
  await rm(dir, { recursive: true, force: true });
}
