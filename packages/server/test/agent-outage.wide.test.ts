import { type FarTurn, protocols } from "@emend/testkit/far-model.ts";
import { useModelProject } from "@emend/testkit/model-project.ts";
import { waitForJob } from "@emend/testkit/worker-control.ts";
import { expect, test } from "vitest";

const models = useModelProject();
const { git, pullOf } = models;

const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["setup"] }] }),
  "setup.mdx": "---\ntitle: Setup\n---\n\nIt takes ten minuts.\n",
};
const away: FarTurn = { response: { error: { message: "overloaded, come back" }, status: 429, retryAfter: 120 } };

/** Three turns that are stored. The test decides what follows. */
function threeSteps(turn: number): FarTurn | null {
  if (turn === 0) return [["read_file", { path: "setup.mdx" }]];
  if (turn === 1) return [["edit_file", { path: "setup.mdx", oldText: "minuts", newText: "minutes" }]];
  if (turn === 2) return [["search", { pattern: "minutes" }]];
  return null;
}
const finish: FarTurn = [["finish", { title: "Fix a misspelling", summary: "It was misspelt." }]];

test("a vendor that fails after three steps: no early retry, then a failure code, and a message continues the job", async () => {
  let isAway = true;
  const asked: number[] = [];
  const { client, project, installation } = await models.install(
    (turn) => {
      asked.push(turn);
      return threeSteps(turn) ?? (isAway ? away : finish);
    },
    { docs, settings: { secondReader: false } },
  );
  const { pool } = installation.database;
  const { id } = await client.create({ prompt: "Fix the misspelling." });
  await waitForJob(pool, id, (row) => row.retries === 1 && row.lease === null);
  const due = await pool.query("select run_after > now() + interval '100 seconds' as later from jobs");
  expect(due.rows[0].later).toBe(true);
  expect(asked).toEqual([0, 1, 2, 3]);

  // The last attempt, at the given time.
  await pool.query("update jobs set retries = 5, run_after = now()");
  expect(await client.untilFinal(id)).toMatchObject({ status: "failed", prLink: null, source: { ref: null } });
  const run = await client.run(id);
  expect(run).toMatchObject({ steps: { count: 3 }, failure: { code: "model_unavailable" } });
  expect(run.failure?.message).toContain("overloaded, come back");
  expect(asked).toEqual([0, 1, 2, 3, 3]);
  expect(await git(project.id, "branch", "--format=%(refname:short)")).toBe("main");
  expect(await pullOf(project.id)).toBeUndefined();

  isAway = false;
  await client.send(`/job/${id}/message`, { prompt: "Go on." });
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: expect.stringMatching(/^http/) });
  // Paid turns were not requested again, and the edit of the second step is in the pull request.
  expect(asked).toEqual([0, 1, 2, 3, 3, 3]);
  expect((await client.send(`/job/${id}/diff`)).text).toContain("+It takes ten minutes.");
});

test("with fallback models the next one answers, and stored steps are not repeated", async () => {
  const [first, second, third] = protocols;
  const asked: [string, number][] = [];
  const { client } = await models.install(
    (turn, { model }) => {
      const name = protocols.find((one) => one.endsWith(`/${model}`)) ?? model;
      asked.push([name, turn]);
      const stored = threeSteps(turn);
      if (stored) return stored;
      if (name === first) return away;
      if (name === second) return { response: { error: { message: "no" }, status: 403 } };
      return turn === 3 ? [["check", {}]] : finish;
    },
    { docs, settings: { secondReader: false, fallbackModels: [second, third] } },
  );
  const { id } = await client.create({ prompt: "Fix the misspelling." });
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", model: third });
  expect(asked).toEqual([
    [first, 0],
    [first, 1],
    [first, 2],
    [first, 3],
    [second, 3],
    [third, 3],
    // The first response has a Retry-After of two minutes, which is honored.
    [third, 4],
  ]);
});

test("a stream that ends early after three steps is requested again, and only that turn", async () => {
  const asked: number[] = [];
  const { client } = await models.install(
    (turn) => {
      asked.push(turn);
      const stored = threeSteps(turn);
      if (stored) return stored;
      const cut = { truncateAfterChunks: 2, chunkSize: 5 };
      return asked.length === 4 ? { response: { content: "never to be finished, this" }, options: cut } : finish;
    },
    { docs, settings: { secondReader: false } },
  );
  const { id } = await client.create({ prompt: "Fix the misspelling." });
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  expect(asked).toEqual([0, 1, 2, 3, 3]);
  expect((await client.run(id)).steps.count).toBe(4);
});

test("a job whose time is up keeps what it did as a draft, with its code", async () => {
  const { client, project } = await models.install(
    (turn) => threeSteps(turn + 1) ?? { response: { content: "late" }, options: { latency: 60_000 } },
    { docs, settings: { limits: { wallTimeMsMax: 4_000 } } },
  );
  const { id } = await client.create({ prompt: "Fix the misspelling." });
  expect(await client.untilFinal(id)).toMatchObject({ status: "failed", prLink: expect.stringMatching(/^http/) });
  expect(await client.run(id)).toMatchObject({ failure: { code: "timeout" }, pullRequest: { draft: true } });
  expect((await pullOf(project.id))?.body).toContain("reached its time limit");
  expect((await client.send(`/job/${id}/diff`)).text).toContain("+It takes ten minutes.");
});
