import { expect, test } from "vitest";
import { useModelProject } from "./support/model-project.ts";

const models = useModelProject();
const { git, pullOf } = models;
const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index"] }] }),
  "index.mdx": "---\ntitle: Home\n---\n\nWelcome.\n",
};

test("the agent gets findings twice and its diff once; what remains makes a draft", async () => {
  const heard: [findings: number, diffs: number][] = [];
  const { client, project } = await models.install(
    (turn, { messages }) => {
      const said = JSON.stringify(messages);
      const times = (words: string) => said.split(words).length - 1;
      heard.push([times("the review found this"), times("as its reviewer will see it")]);
      if (turn === 0) {
        return [["edit_file", { path: "index.mdx", oldText: "Welcome.", newText: "See [more](/nowhere)." }]];
      }
      if (times("as its reviewer will see it") > 0 && times("Read [more]") === 0) {
        return [["edit_file", { path: "index.mdx", oldText: "See [more]", newText: "Read [more]" }]];
      }
      return [["finish", { title: "Lead on", summary: "To more." }]];
    },
    { docs },
  );
  const { id } = await client.create({ prompt: "Lead on." });
  const job = await client.untilFinal(id);
  expect(job).toMatchObject({ status: "completed", prLink: expect.stringMatching(/^http/) });
  expect(heard).toEqual([
    [0, 0],
    [0, 0],
    [1, 0],
    [2, 0],
    [2, 1],
    [2, 1],
  ]);
  const run = await client.run(id);
  // Edit, finish, finish, finish, revise, finish.
  expect(run).toMatchObject({ steps: { count: 6 }, pullRequest: { draft: true }, findings: { introducedCount: 1 } });
  expect(await git(project.id, "show", `${job.source.ref}:index.mdx`)).toContain("Read [more](/nowhere).");
  const body = (await pullOf(project.id))?.body ?? "";
  expect(body).toContain("The checks found errors that this change introduces.");
  expect(body).toMatch(/### New findings\n\n- error `index\.mdx:5`/);
});

test("the agent can dispute a finding: nothing is undone, and a draft shows both sides", async () => {
  const { client, project } = await models.install(
    (turn) => {
      if (turn === 0) {
        return [["edit_file", { path: "index.mdx", oldText: "Welcome.", newText: "See [status](/status)." }]];
      }
      const words = { title: "Lead to the status", summary: "To the status page." };
      return [["finish", turn === 1 ? words : { disputes: ["index.mdx:5: the host serves /status itself"] }]];
    },
    { docs, settings: { secondReader: false } },
  );
  const { id } = await client.create({ prompt: "Lead to /status." });
  const job = await client.untilFinal(id);
  const run = await client.run(id);
  // Edit, finish, finish: a disputed finding is not reported again.
  expect(run).toMatchObject({ steps: { count: 3 }, pullRequest: { draft: true }, title: "Lead to the status" });
  expect(run.findings?.introduced).toMatchObject([{ path: "index.mdx", dispute: "the host serves /status itself" }]);
  expect(await git(project.id, "show", `${job.source.ref}:index.mdx`)).toContain("(/status)");
  const body = (await pullOf(project.id))?.body ?? "";
  expect(body).toContain("Review both sides before merging.");
  expect(body).toMatch(/- error `index\.mdx:5` [^\n]*\n {2}The agent disagrees: the host serves \/status itself/);
});

test("a large change comes back as the answer to finish, and a plain finish confirms it", async () => {
  const { client, far } = await models.install(
    (turn) => {
      if (turn === 0)
        return [["write_file", { path: "index.mdx", content: `${docs["index.mdx"]}${"\nA line.\n".repeat(40)}` }]];
      return [["finish", turn === 1 ? { title: "Say more", summary: "Forty lines." } : {}]];
    },
    { docs },
  );
  const { id } = await client.create({ prompt: "Say more." });
  await client.untilFinal(id);
  expect(await client.run(id)).toMatchObject({ steps: { count: 3 }, title: "Say more", summary: "Forty lines." });
  const last = far.requests.at(-1)?.messages ?? [];
  expect(last.at(-1)).toMatchObject({ role: "tool" });
  expect(JSON.stringify(last.at(-1))).toContain("+A line.");
});

test("finish beside a refused edit is sent back, since its summary tells of what was not done", async () => {
  const { client, project } = await models.install(
    (turn) => {
      if (turn === 0) {
        return [
          ["edit_file", { path: "index.mdx", oldText: "Welcome.", newText: "Hello." }],
          ["edit_file", { path: "index.mdx", oldText: "nowhere", newText: "x" }],
          ["finish", { title: "Greet", summary: "Both were done." }],
        ];
      }
      return [["finish", { title: "Greet", summary: "One was done." }]];
    },
    { docs },
  );
  const { id } = await client.create({ prompt: "Greet." });
  await client.untilFinal(id);
  expect(await client.run(id)).toMatchObject({ steps: { count: 2 }, summary: "One was done." });
  expect((await pullOf(project.id))?.body).not.toContain("Both were done.");
});
