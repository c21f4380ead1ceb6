import { useModelProject } from "@emend/testkit/model-project.ts";
import { expect, test } from "vitest";

const models = useModelProject();
const docs = { "index.mdx": "---\ntitle: Home\n---\n\nWelcom.\n" };

test("a project's secret that a model says, writes or reads is not shown and not stored", async () => {
  const own = "a-key-0f-the-project-and-of-nobody";
  const encoded = Buffer.from(own).toString("hex");
  const { client, server, project, installation, far } = await models.install(
    (turn) => {
      if (turn === 0) return `The key is ${own}.`;
      if (turn === 1) return [["search", { pattern: encoded }]];
      if (turn === 2) return [["edit_file", { path: "index.mdx", oldText: "Welcom.", newText: `Welcome, ${own}.` }]];
      if (turn === 3) return [["edit_file", { path: "index.mdx", oldText: "Welcom.", newText: "Welcome." }]];
      return [["finish", { title: "Greet", summary: "Greeted." }]];
    },
    { docs, settings: { secondReader: false } },
  );
  await server.admin.setModelKey({ projectId: project.id, vendor: "google", key: own });
  const { id } = await client.create({ prompt: "Greet" });
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  expect(JSON.stringify((await client.run(id)).steps)).toContain('"ok":false');
  const { rows } = await installation.database.pool.query("select messages::text as said from steps order by number");
  const said = rows.map((row) => row.said).join();
  expect(said).toContain("[redacted: known]");
  for (const text of [own, encoded]) {
    expect(said).not.toContain(text);
    expect(JSON.stringify(far.requests)).not.toContain(text);
  }
});
