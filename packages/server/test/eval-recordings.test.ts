import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { judge } from "../eval/judge.ts";
import { attempt, type Product } from "../eval/product.ts";
import { type Recording, recordings } from "../eval/recordings.ts";
import { evalTasks } from "../eval/tasks/index.ts";
import { loadRun } from "../src/jobs/load-run.ts";
import { type FarModel, type FarTurn, protocols, startFarModel } from "./support/far-model.ts";
import { createInstallation, type Installation } from "./support/whole-server.ts";

const figuresFile = join(import.meta.dirname, "../eval/recorded-figures.json");

let installation: Installation;
let product: Product;
let far: FarModel;
let replayed: Recording;
beforeAll(async () => {
  // Once its answers are over, a recorded model confirms whatever it is shown.
  far = await startFarModel((turn) => (replayed.turns[turn] as FarTurn | undefined) ?? [["finish", {}]]);
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

test("recorded runs of a strong model still pass, at the figures that are kept", async () => {
  const figures: Record<
    string,
    { turns: number; inputTokens: number; tokensByTool: Readonly<Record<string, number>> }
  > = {};
  for (const recording of recordings) {
    replayed = recording;
    const task = evalTasks().find(({ name }) => name === recording.task);
    if (!task) throw new Error(`there is no task ${recording.task}`);
    far.requests.length = 0;
    const { answer, figures: used } = await attempt(product, protocols[0], task, AbortSignal.timeout(60_000));
    expect(judge(task, answer), recording.task).toEqual([]);
    // What was sent, at four characters a token: a scripted vendor counts nothing itself.
    const inputTokens = Math.round(
      far.requests.reduce((sum, { messages, tools }) => sum + JSON.stringify({ messages, tools }).length, 0) / 4,
    );
    figures[recording.task] = { turns: used.turns, inputTokens, tokensByTool: used.tokensByTool };
  }
  // `npm run unit -- packages/server/test/eval-recordings.test.ts -u` keeps new figures; the diff shows what they cost.
  await expect(`${JSON.stringify(figures, null, 2)}\n`).toMatchFileSnapshot(figuresFile);
});
