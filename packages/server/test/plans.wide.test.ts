import { useModelProject } from "@emend/testkit/model-project.ts";
import { clientOf } from "@emend/testkit/whole-server.ts";
import { expireLeases } from "@emend/testkit/worker-control.ts";
import { expect, test } from "vitest";

const models = useModelProject();
const { git, pullOf } = models;

const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index", "setup"] }] }),
  "index.mdx": "---\ntitle: Home\n---\n\nSee [setup](/setup).\n",
  "setup.mdx": "---\ntitle: Setup\n---\n\nIt takes ten minuts.\n",
};
const edit: [string, unknown] = ["edit_file", { path: "setup.mdx", oldText: "minuts", newText: "minutes" }];
const plan = "setup.mdx: correct one word.";

/** Tries to write at once; plans after the refusal; writes after the next message. */
const script: Parameters<typeof models.install>[0] = (turn, { messages }) => {
  const isApproved = JSON.stringify(messages).includes("Carry out the plan");
  if (turn === 0) return [edit];
  if (turn === 1) return [["finish", { title: "Plan", summary: plan }]];
  if (turn === 2 && isApproved) return [edit];
  return [["finish", { title: "Fix a word", summary: "Fixed it.", reply: "Did it." }]];
};
const settings = { secondReader: false };

test("a plan changes nothing, and a message has it carried out in the same conversation", async () => {
  const { client, project, far } = await models.install(script, { docs, settings });
  const { json } = await client.send("/job", { prompt: "Fix the misspelling.", plan: true });
  const { id } = json as { id: string };
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: null, source: { ref: null } });
  expect(await client.run(id)).toMatchObject({ plan: true, summary: plan, pullRequest: null });
  expect((await client.send(`/job/${id}/diff`)).text).toBe("");
  expect(JSON.stringify(far.requests[1]?.messages)).toContain("this round only plans");
  await client.send(`/job/${id}/message`, { prompt: "Carry out the plan." });
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  expect(await git(project.id, "show", `emend/${id}:setup.mdx`)).toContain("ten minutes");
  expect((await client.run(id)).plan).toBe(false);
  expect((await pullOf(project.id))?.body).toContain(plan);
  // Each turn once, and the second round goes on where the first ended, byte for byte.
  expect(far.requests).toHaveLength(4);
  const [before, after] = [far.requests[1], far.requests[2]].map((one) =>
    one?.messages.map((said) => JSON.stringify(said)),
  );
  expect(after?.slice(0, before?.length)).toEqual(before);
});

test("the project's rule plans long prompts first, and only a language model plans", async () => {
  const { client } = await models.install(script, {
    docs,
    settings: { ...settings, planPromptsOver: 10, models: ["emend/rules"] },
  });
  const { json } = await client.send("/job", { prompt: "Fix the misspelling." });
  await client.untilFinal((json as { id: string }).id);
  expect(await client.run((json as { id: string }).id)).toMatchObject({ plan: true, pullRequest: null });
  const refused = await client.send("/job", { prompt: "Fix it.", plan: true, model: "emend/rules" });
  expect(refused).toMatchObject({ status: 400, text: expect.stringContaining("plan needs a language model") });
  const byRules = await client.send("/job", { prompt: 'Replace "minuts" with "minutes".', model: "emend/rules" });
  expect(await client.untilFinal((byRules.json as { id: string }).id)).toMatchObject({ prLink: expect.any(String) });
});

test("a plan survives a server that dies after any of its steps, and no stored turn is paid again", async () => {
  const { server, client, far, installation, project, key } = await models.install(script, { docs, settings });
  const { pool } = installation.database;
  // Other jobs have every lane until this server has stopped.
  await pool.query(
    `insert into jobs (id, project_id, prompt, model, repository_url, branch, ref, created_by, event_seq, lease, lease_until)
     select 'job_' || number, id, 'x', 'x', 'x', 'x', 'x', 'test', 1, gen_random_uuid(), now() + interval '1 hour'
     from projects, generate_series(1, 4) number`,
  );
  const { json } = await client.send("/job", { prompt: "Fix the misspelling.", plan: true });
  const { id } = json as { id: string };
  await server.stop();
  await pool.query("delete from jobs where id <> $1", [id]);
  for (const point of ["after-step-stored", "after-step-stored", "before-end"]) {
    await installation.runUntilCrash(point);
    await expireLeases(pool);
    await pool.query("update jobs set crashes = 0, crashes_blamed = 0");
  }
  const again = clientOf(await installation.start(), project.id, key);
  expect(await again.untilFinal(id)).toMatchObject({ status: "completed", prLink: null });
  expect(far.requests).toHaveLength(2);
  expect(await again.run(id)).toMatchObject({ plan: true, summary: plan });
});
