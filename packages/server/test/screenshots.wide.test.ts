import { trySandbox } from "@emend/runners";
import { useModelProject } from "@emend/testkit/model-project.ts";
import { startBound } from "@emend/tree";
import { expect, test } from "vitest";
import { findChromium } from "../../build/src/take-pictures.ts";

const { install, git, commitByPerson } = useModelProject();
const path = process.env.PATH ?? "";
const sandbox = await trySandbox(startBound, path);
const takes = test.skipIf(sandbox.kind !== "usable" || (await findChromium(path)) === null);

const app = (colour: string) => `require("node:http").createServer((_, answer) => {
  answer.setHeader("content-type", "text/html");
  answer.end('<body style="background:${colour}"><h1>Hello</h1></body>');
}).listen(8123);
`;
const screenshots = [{ file: "docs/hello.png", open: "http://localhost:8123/", window: [300, 200], code: ["app.cjs"] }];
const docs = {
  "docs/index.md": "# Home\n\n![The page that greets](hello.png)\n",
  "app.cjs": app("white"),
  ".emend/screenshots.json": JSON.stringify({ screenshots }),
};
const build = { on: true, service: "node app.cjs" };
const settings = { models: ["emend/rules"], build };

takes("a job takes the screenshots again and proposes those that changed (needs bubblewrap and Chromium)", async () => {
  const { client, project } = await install(() => [], { docs, settings }, { PATH: path });
  const renew = async () => {
    const { id } = await client.create({ prompt: "Renew screenshots.", model: "emend/rules" });
    await client.untilFinal(id);
    return { id, run: await client.run(id) };
  };
  const { id, run } = await renew();
  expect(run).toMatchObject({ pullRequest: { draft: false } });
  const main = await git(project.id, "symbolic-ref", "--short", "HEAD");
  const added = await git(project.id, "diff", "--name-status", `${main}...emend/${id}`);
  expect(added).toBe("A\tdocs/hello.png");
  await git(project.id, "update-ref", `refs/heads/${main}`, `emend/${id}`);
  expect((await renew()).run).toMatchObject({
    pullRequest: null,
    summary: expect.stringContaining("Nothing had to change"),
  });
  await commitByPerson(project.id, main, "app.cjs", app("gold"));
  const again = await renew();
  expect(await git(project.id, "diff", "--name-status", `${main}...emend/${again.id}`)).toBe("M\tdocs/hello.png");
});

test("without a declaration, the instruction says what is missing", async () => {
  const { client } = await install(() => [], { docs: { "docs/index.md": "# Home\n" }, settings }, { PATH: path });
  const { id } = await client.create({ prompt: "Renew screenshots.", model: "emend/rules" });
  await client.untilFinal(id);
  expect(JSON.stringify(await client.run(id))).toContain(".emend/screenshots.json");
});
