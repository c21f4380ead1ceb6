// Costly: only a killed process loses what was in memory alone.
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { type FarTurn, protocols } from "@emend/testkit/far-model.ts";
import { useModelProject } from "@emend/testkit/model-project.ts";
import { seededRandom } from "@emend/testkit/seeded-random.ts";
import { clientOf } from "@emend/testkit/whole-server.ts";
import { expireLeases } from "@emend/testkit/worker-control.ts";
import { expect, test } from "vitest";

const models = useModelProject();
const { git } = models;

const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index", "setup"] }] }),
  "index.mdx": "---\ntitle: Home\n---\n\nSee [setup](/setup).\n",
  "setup.mdx": "---\ntitle: Setup\n---\n\nIt takes ten minuts.\n",
};
const id = "job_01arz3ndektsv4rrffq69g5fav";

/** Reads, writes a name that nothing has, finishes, and finishes again each time that the review's finding is given back: five turns. */
function turnOf(turn: number): FarTurn {
  if (turn === 0) return [["read_file", { paths: ["setup.mdx"] }]];
  const edits = [{ oldText: "ten minuts.\n", newText: "ten minutes. Set `KEEP_NOTES_MAX` first.\n" }];
  if (turn === 1) return [["edit_file", { path: "setup.mdx", edits }]];
  return [["finish", { title: "Fix a misspelling", summary: "The word was misspelt." }]];
}

/** A job that waits for the next server. `asked`: the turn of each request. */
async function scene(more: { latency?: number } = {}) {
  const asked: number[] = [];
  const installed = await models.install(
    (turn, _request, number) => {
      asked.push(turn);
      const calls = turnOf(turn) as ReadonlyArray<[string, unknown]>;
      const toolCalls = calls.map(([name, input], index) => ({
        id: `call_${number}_${index}`,
        name,
        arguments: JSON.stringify(input),
      }));
      return { response: { toolCalls }, options: more };
    },
    { docs, settings: { secondReader: false } },
  );
  await installed.server.stop();
  const { pool } = installed.installation.database;
  await pool.query(
    `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq)
     values ($3, $1, 'Fix it', $2, 'http://x', 'emend/kill', 'emend/kill', 'test', 1)`,
    [installed.project.id, protocols[1], id],
  );
  const afterKill = async () => {
    await expireLeases(pool);
    await pool.query("update jobs set crashes = 0");
    return Number((await pool.query("select count(*) from steps")).rows[0].count);
  };
  const goOn = async () => {
    const client = clientOf(await installed.installation.start(), installed.project.id, installed.key);
    return { ended: await client.untilFinal(id), run: await client.run(id) };
  };
  return { ...installed, pool, asked, afterKill, goOn };
}

async function expectOnePublication({ project, pool }: Awaited<ReturnType<typeof scene>>): Promise<void> {
  expect(await git(project.id, "branch", "--format=%(refname:short)")).toBe("emend/kill\nmain");
  expect(await git(project.id, "rev-list", "--count", "main..emend/kill")).toBe("1");
  expect(await git(project.id, "show", "emend/kill:setup.mdx")).toContain("ten minutes.");
  expect((await pool.query("select 1 from local_pull_requests")).rowCount).toBe(1);
}

test("a server that is killed at any point repeats only the turn that was not stored", async () => {
  const here = await scene();
  const { asked, afterKill, installation, goOn } = here;
  /** Where the process dies, and the turns that it requested before. */
  const lives: readonly [crashAt: string, turns: readonly number[]][] = [
    // The response came and its tool ran, but nothing was stored.
    ["before-step-stored:2", [0, 1]],
    ["before-review", [1, 2]],
    // The agent was shown its own diff.
    ["before-step-stored", [3]],
    ["before-change-stored", [3, 4]],
  ];
  for (const [crashAt, turns] of lives) {
    asked.length = 0;
    await installation.runUntilCrash(crashAt);
    expect([crashAt, asked]).toEqual([crashAt, turns]);
    await afterKill();
  }
  asked.length = 0;
  const { ended, run } = await goOn();
  expect(ended).toMatchObject({ status: "completed", prLink: expect.stringMatching(/^http/) });
  expect(asked).toEqual([]);
  expect(run.steps.count).toBe(5);
  await expectOnePublication(here);
});

test("a server killed at any moment asks for no stored turn again", async () => {
  const here = await scene({ latency: 20 });
  const { asked, afterKill, installation, pool, goOn } = here;
  const random = seededRandom(1);
  let stored = 0;
  const expectNothingAgain = () => {
    // Each process requests a turn once, starting with the first that no earlier process stored.
    expect(asked).toEqual(asked.map((_, index) => stored + index));
    asked.length = 0;
  };
  for (const _ of [1, 2, 3]) {
    const child = installation.spawn();
    const gone = once(child, "exit");
    const isAtWork = "select 1 from jobs where lease_until > now() or status <> 'active'";
    while ((await pool.query(isAtWork)).rowCount === 0) await pause(5);
    await pause(random() * 250);
    child.kill("SIGKILL");
    await gone;
    expectNothingAgain();
    stored = await afterKill();
  }
  const { ended, run } = await goOn();
  expectNothingAgain();
  expect(ended.status).toBe("completed");
  expect(run.steps.count).toBe(5);
  await expectOnePublication(here);
});
