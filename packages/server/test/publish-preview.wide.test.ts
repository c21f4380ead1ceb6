import { useModelProject } from "@emend/testkit/model-project.ts";
import { clientOf } from "@emend/testkit/whole-server.ts";
import { expireLeases } from "@emend/testkit/worker-control.ts";
import { expect, test } from "vitest";

const models = useModelProject();
const { git, commitByPerson } = models;

const page = (title: string, text: string) => `---\ntitle: ${title}\n---\n\n${text}\n`;
const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index", "setup"] }] }),
  "index.mdx": page("Home", "See [setup](/setup)."),
  "setup.mdx": page("Setup", "It takes ten minuts.\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n\nFive."),
};
const script: Parameters<typeof models.install>[0] = (turn) =>
  turn === 0
    ? [["edit_file", { path: "setup.mdx", oldText: "minuts", newText: "minutes" }]]
    : [["finish", { title: "Fix a word", summary: "Fixed a misspelling." }]];

async function previewed() {
  const installed = await models.install(script, { docs, settings: { secondReader: false } });
  const { client, far } = installed;
  const { json } = await client.send("/job", { prompt: "Fix the misspelling.", preview: true });
  const { id } = json as { id: string };
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: null });
  const diff = (await client.send(`/job/${id}/diff`)).text;
  expect(diff).toContain("+It takes ten minutes.");
  const requests = far.requests.length;
  const pulls = async () =>
    (await installed.installation.database.pool.query("select 1 from local_pull_requests")).rowCount;
  return { ...installed, id, diff, requests, pulls };
}

test("what was previewed is published byte for byte, once, without the model, whatever moved elsewhere", async () => {
  const { client, project, id, diff, far, requests, pulls } = await previewed();
  await commitByPerson(project.id, "main", "later.mdx", page("Later", "Came later."));
  const posts = await Promise.all([1, 2, 3].map(() => client.send(`/job/${id}/publish`, {})));
  expect(posts.map(({ status }) => status)).toEqual([200, 200, 200]);
  const done = await client.untilFinal(id);
  expect(done).toMatchObject({ status: "completed", prLink: expect.any(String) });
  expect((await client.send(`/job/${id}/diff`)).text).toBe(diff);
  expect(await git(project.id, "diff", "--full-index", "main", `emend/${id}`)).toBe(diff.trim());
  expect(far.requests).toHaveLength(requests);
  expect((await client.run(id)).preview).toBe(false);
  expect((await client.send(`/job/${id}/publish`, {})).json).toEqual(done);
  expect(await pulls()).toBe(1);
});

test("where the base changed a previewed file, nothing is published, even if both changes would merge", async () => {
  const { client, project, id, diff, far, requests, pulls } = await previewed();
  await commitByPerson(project.id, "main", "setup.mdx", docs["setup.mdx"].replace("Five.", "Six."));
  await client.send(`/job/${id}/publish`, {});
  expect(await client.untilFinal(id)).toMatchObject({ status: "failed", prLink: null });
  const run = await client.run(id);
  expect(run.failure).toMatchObject({ code: "branch_conflict", message: expect.stringContaining("setup.mdx") });
  expect((await client.send(`/job/${id}/diff`)).text).toBe(diff);
  expect([far.requests.length, await pulls()]).toEqual([requests, 0]);
});

test("policy decides again: what the project no longer allows is not published", async () => {
  const { client, installation, id, far, requests, pulls } = await previewed();
  await installation.database.pool.query(
    'update projects set settings = settings || \'{"policy": {"bytesMax": 1}}\'::jsonb',
  );
  await client.send(`/job/${id}/publish`, {});
  expect(await client.untilFinal(id)).toMatchObject({ status: "failed", prLink: null });
  expect((await client.run(id)).failure?.code).toBe("policy_denied");
  expect([far.requests.length, await pulls()]).toEqual([requests, 0]);
});

test("a server that dies while it publishes a preview leaves one pull request, and asks no model", async () => {
  const { server, client, installation, project, key, id, diff, far, requests, pulls } = await previewed();
  const { pool } = installation.database;
  // Another job has the only lane until this server has stopped.
  await pool.query(
    `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq, lease, lease_until)
     select 'job_' || number, id, 'x', 'x', 'x', 'x', 'x', 'test', 1, gen_random_uuid(), now() + interval '1 hour'
     from projects, generate_series(1, 4) number`,
  );
  expect((await client.send(`/job/${id}/publish`, {})).status).toBe(200);
  await server.stop();
  await pool.query("delete from jobs where id <> $1", [id]);
  for (const point of ["after-claim", "after-review", "after-commit-stored", "after-push", "after-create"]) {
    await installation.runUntilCrash(point);
    await expireLeases(pool);
    await pool.query("update jobs set crashes = 0, crashes_blamed = 0");
  }
  const again = clientOf(await installation.start(), project.id, key);
  expect(await again.untilFinal(id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  expect((await again.send(`/job/${id}/diff`)).text).toBe(diff);
  expect([far.requests.length, await pulls()]).toEqual([requests, 1]);
});
