import { useModelProject } from "@emend/testkit/model-project.ts";
import { waitForJob } from "@emend/testkit/worker-control.ts";
import { expect, test } from "vitest";

const models = useModelProject();
const { git, commitByPerson, pullOf, query } = models;

const page = (title: string, text: string) => `---\ntitle: ${title}\n---\n\n${text}\n`;
const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index", "setup"] }] }),
  "index.md": page("Home", "See [setup](/setup)."),
  "setup.md": page("Setup", "It takes TODO minutes.\n\nOne.\n\nTwo.\n\nThree.\n\nFour.\n\nFive."),
};
const embed = '<iframe src="https://www.youtube.com/embed/x1" width="560" height="315"></iframe>';
const prompt = "Embed the video https://www.youtube.com/embed/x1 in the setup page.";
const writes =
  (text: string): Parameters<typeof models.install>[0] =>
  (turn) =>
    turn === 0
      ? [["edit_file", { path: "setup.md", oldText: "It takes TODO minutes.", newText: text }]]
      : [["finish", { title: "Embed the video", summary: "Embedded it." }]];
const isWaiting = (job: { waiting_for: string; waiting_since: Date | null }) =>
  job.waiting_for === "approval" && job.waiting_since !== null;

async function waiting(settings: Record<string, unknown> = {}, script = writes(embed)) {
  const installed = await models.install(script, { docs, settings: { secondReader: false, ...settings } });
  const { client, installation, project, far } = installed;
  const { pool } = installation.database;
  const { id } = await client.create({ prompt });
  await waitForJob(pool, id, (job) => isWaiting(job) || job.status === "failed");
  const requests = far.requests.length;
  const branches = () => git(project.id, "for-each-ref", "--format=%(refname:short)");
  const answer = (what: string, body: object = {}) => client.send(`/job/${id}/${what}`, body);
  return { ...installed, pool, id, requests, branches, answer };
}

test("a change with an unknown construct waits before anything leaves Emend, and is published when approved", async () => {
  const { client, project, id, far, requests, branches, answer } = await waiting();
  expect((await client.send(`/job/${id}`)).json).toMatchObject({ status: "active", prLink: null });
  const run = await client.run(id);
  expect(run.waiting).toMatchObject({
    for: "approval",
    message: expect.stringContaining("the element iframe in setup.md"),
    constructs: [{ path: "setup.md", line: 5, kind: "element", count: 1, around: { line: 3 } }],
    until: expect.any(String),
  });
  expect(run.waiting?.constructs?.[0]).not.toHaveProperty("key");
  expect(run).toMatchObject({ isApprovable: true, pullRequest: null });
  const diff = (await client.send(`/job/${id}/diff`)).text;
  expect(diff).toContain(embed);
  expect(await branches()).toBe("main");
  expect(await pullOf(project.id)).toBeUndefined();
  expect((await answer("approve")).status).toBe(200);
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  expect(await git(project.id, "diff", "--full-index", "main", `emend/${id}`)).toBe(diff.trim());
  expect(far.requests).toHaveLength(requests);
  expect((await client.run(id)).pullRequest).toMatchObject({ draft: false });
  const kinds = (await query("select kind from job_events where kind like 'job.%' order by seq")).map((one) => one.kind);
  expect(kinds).toEqual(["job.created", "job.waiting", "job.approved"]);
});
