import { useModelProject } from "@emend/testkit/model-project.ts";
import { expect, test } from "vitest";
import { hastenPoll } from "../src/jobs/pull-requests.ts";

const models = useModelProject();
const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index", "setup"] }] }),
  "index.mdx": "---\ntitle: Home\n---\n\nSee [setup](/setup).\n",
  "setup.mdx": "---\ntitle: Setup\n---\n\nIt takes ten minuts.\n",
};

/** Corrects a word, and says it otherwise when a spelling check of CI complains. */
const script: Parameters<typeof models.install>[0] = (_turn, { messages }) => {
  const edits = messages.flatMap((message) => message.tool_calls ?? []).map((call) => call.function.arguments);
  const isEdited = (word: string) => edits.some((input) => input.includes(word));
  if (!isEdited("minutos")) return [["edit_file", { path: "setup.mdx", oldText: "minuts", newText: "minutos" }]];
  if (JSON.stringify(messages).includes("unknown word: minutos") && !isEdited("minutes"))
    return [["edit_file", { path: "setup.mdx", oldText: "minutos", newText: "minutes" }]];
  return [["finish", { title: "Fix it", summary: "Fixed it.", reply: "Wrote the word that the check knows." }]];
};

test("a check that fails on the local forge is repaired on the same pull request, and the thread says by which commit", async () => {
  const settings = { secondReader: false, ciRepairRounds: 1 };
  const { client, project, key, server, installation } = await models.install(script, { docs, settings });
  const { pool } = installation.database;
  const { id } = await client.create({ prompt: "Fix the misspelling." });
  const first = await client.untilFinal(id);
  expect(first).toMatchObject({ status: "completed", prLink: expect.stringContaining("/pull/1") });
  const branch = first.source.ref ?? "";
  const commit = await models.git(project.id, "rev-parse", branch);
  const answer = await fetch(`${server.url}/forge/${project.id}/statuses/${commit}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: new URLSearchParams({ name: "spelling", state: "failed", log: "setup.mdx:5 unknown word: minutos" }),
  });
  expect(answer.status).toBe(201);
  await hastenPoll(pool, { projectId: project.id, number: 1 });
  await expect
    .poll(async () => (await pool.query("select from job_messages where created_by = 'ci/spelling'")).rowCount, {
      timeout: 60_000,
    })
    .toBe(1);
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  expect(await models.git(project.id, "show", `${branch}:setup.mdx`)).toContain("ten minutes");
  const repair = await models.git(project.id, "rev-parse", branch);
  expect(repair).not.toBe(commit);
  const said = async () => {
    await hastenPoll(pool, { projectId: project.id, number: 1 });
    return (await pool.query<{ body: string }>("select body from local_pull_request_comments")).rows.map(
      ({ body }) => body,
    );
  };
  await expect
    .poll(said, { timeout: 60_000 })
    .toEqual([expect.stringMatching(new RegExp(`^Done in ${repair}\\. Wrote the word that the check knows\\.`))]);
});

test("a job that only corrects links is merged on the local forge once its checks pass, and its code owners are known", async () => {
  const broken = { ...docs, CODEOWNERS: "* @ada\n", "index.mdx": "---\ntitle: Home\n---\n\nSee [setup](/setpu).\n" };
  const fix: typeof script = (turn) =>
    turn === 0
      ? [["edit_file", { path: "index.mdx", oldText: "/setpu", newText: "/setup" }]]
      : [["finish", { title: "Fix a link", summary: "The link leads to the page." }]];
  const settings = { secondReader: false, autoMerge: ["links"] };
  const { client, project, key, server, installation } = await models.install(fix, { docs: broken, settings });
  const { pool } = installation.database;
  const { id } = await client.create({ prompt: "Fix the link." });
  const first = await client.untilFinal(id);
  const { rows } = await pool.query("select change_kind, code_owners from jobs");
  expect(rows).toEqual([{ change_kind: "links", code_owners: { people: ["ada"], teams: [] } }]);
  const commit = await models.git(project.id, "rev-parse", first.source.ref ?? "");
  await fetch(`${server.url}/forge/${project.id}/statuses/${commit}`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}` },
    body: new URLSearchParams({ name: "links", state: "passed" }),
  });
  await hastenPoll(pool, { projectId: project.id, number: 1 });
  await expect
    .poll(async () => (await pool.query("select state, merged_by from local_pull_requests")).rows, { timeout: 60_000 })
    .toEqual([{ state: "merged", merged_by: "Emend" }]);
  expect(await models.git(project.id, "show", "main:index.mdx")).toContain("(/setup)");
});
