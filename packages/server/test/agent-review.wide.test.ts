import { useModelProject } from "@emend/testkit/model-project.ts";
import { expect, test } from "vitest";

const models = useModelProject();
const { git, pullOf } = models;
const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index"] }] }),
  "index.mdx": "---\ntitle: Home\n---\n\nWelcome.\n",
};

const isSecondReader = (request: unknown) => JSON.stringify(request).includes("before a person reviews it");

test("the agent gets findings twice and the second reader's once; what remains makes a draft", async () => {
  const heard: [findings: number, readers: number][] = [];
  const { client, project } = await models.install(
    (turn, request) => {
      if (isSecondReader(request)) {
        return [["report", { findings: [{ kind: "unasked", quote: "See [more](/nowhere).", why: "nobody asked" }] }]];
      }
      const said = JSON.stringify(request.messages);
      const times = (words: string) => said.split(words).length - 1;
      heard.push([times("the review found this"), times("a second reader, who saw only")]);
      if (turn === 0) {
        return [["edit_file", { path: "index.mdx", oldText: "Welcome.", newText: "See [more](/nowhere)." }]];
      }
      if (times("a second reader, who saw only") > 0 && times("Read [more]") === 0) {
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
  // Edit, finish, finish, finish, the second reader, revise, finish, the second reader.
  expect(run).toMatchObject({ steps: { count: 8 }, pullRequest: { draft: true }, findings: { introducedCount: 2 } });
  expect(await git(project.id, "show", `${job.source.ref}:index.mdx`)).toContain("Read [more](/nowhere).");
  const body = (await pullOf(project.id))?.body ?? "";
  expect(body).toContain("The checks found errors that this change introduces.");
  expect(body).toMatch(/### New findings\n\n- error `index\.mdx:5`/);
  expect(body).toContain("a second reader found what was then changed: unasked: “See");
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

test("a fact that nothing witnesses, and one that its source contradicts, make a draft that shows both", async () => {
  const { client, project } = await models.install(
    (turn) => {
      if (turn === 0) return [["read_file", { paths: ["server.js"] }]];
      if (turn === 1) {
        const newText = "It listens on `0.0.0.0` by default. Pass `--any-port`.";
        return [["edit_file", { path: "index.mdx", oldText: "Welcome.", newText }]];
      }
      const sources = [{ at: "server.js:1", supports: "It listens on `0.0.0.0` by default" }];
      return [["finish", { title: "Say where it listens", summary: "From the code.", sources }]];
    },
    {
      docs: { ...docs, "server.js": 'const host = "127.0.0.1";\n// Not 0.0.0.0: it is local.\n' },
      settings: { secondReader: false },
    },
  );
  const { id } = await client.create({ prompt: "Say where it listens." });
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  const run = await client.run(id);
  expect(run).toMatchObject({ pullRequest: { draft: true }, findings: { introducedCount: 2 } });
  expect(run.sources).toMatchObject([
    { path: "server.js", line: 1, supports: "It listens on `0.0.0.0` by default", text: 'const host = "127.0.0.1";' },
  ]);
  const body = (await pullOf(project.id))?.body ?? "";
  expect(body).toContain("Statements in this change could not be verified.");
  expect(body).toMatch(/- error `index\.mdx:5` .*0\.0\.0\.0.* is not in the cited lines/);
  expect(body).toMatch(/- error `index\.mdx:5` .*--any-port.* is in nothing that was read/);
  expect(body).toContain('const host = "127.0.0.1";');
  expect(body).toContain("- changed `index.mdx` +1 −1");
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
    { docs, settings: { secondReader: false } },
  );
  const { id } = await client.create({ prompt: "Greet." });
  await client.untilFinal(id);
  expect(await client.run(id)).toMatchObject({ steps: { count: 2 }, summary: "One was done." });
  expect((await pullOf(project.id))?.body).not.toContain("Both were done.");
});
