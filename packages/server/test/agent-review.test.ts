import { expect, test } from "vitest";
import { useModelProject } from "./support/model-project.ts";

const models = useModelProject();
const { git, pullOf } = models;
const docs = {
  "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index"] }] }),
  "index.mdx": "---\ntitle: Home\n---\n\nWelcome.\n",
};

test("findings are told twice, the diff is shown once and may be revised; what is left makes a draft", async () => {
  const heard: [findings: number, diffs: number][] = [];
  const { client, project } = await models.install(
    (turn, { messages }) => {
      const said = JSON.stringify(messages);
      const times = (words: string) => said.split(words).length - 1;
      heard.push([times("The review of your change"), times("as its reviewer will see it")]);
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
