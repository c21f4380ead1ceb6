import { trySandbox } from "@emend/runners";
import type { FarTurn } from "@emend/testkit/far-model.ts";
import { useModelProject } from "@emend/testkit/model-project.ts";
import { startBound } from "@emend/tree";
import { expect, test } from "vitest";
import { findChromium } from "../../build/src/take-pictures.ts";

const { install, pullOf, commitByPerson, query } = useModelProject();

/** A builder of the base: refuses a page that says "broken". */
const builder = `
import { readdirSync, readFileSync } from "node:fs";
for (const name of readdirSync("docs")) {
  readFileSync("docs/" + name, "utf8").split("\\n").forEach((line, at) => {
    if (!line.includes("broken")) return;
    console.error(\`ERROR: docs/\${name}:\${at + 1}: broken words\`);
    process.exitCode = 1;
  });
}
`;
const docs = { "docs/index.md": "# Home\n\nWelcome.\n", "build.mjs": builder };
const build = { on: true, command: "node build.mjs" };
const settings = { secondReader: false, build };
const edit = (newText: string): FarTurn => [["edit_file", { path: "docs/index.md", oldText: "Welcome.", newText }]];
const finish: FarTurn = [["finish", { title: "Greet", summary: "It greets." }]];
const programs = { PATH: process.env.PATH ?? "" };
const sandbox = await trySandbox(startBound, process.env.PATH ?? "");
const builds = test.skipIf(sandbox.kind !== "usable");

builds("a change that the builder refuses goes back to the agent, and then is a draft (needs bubblewrap)", async () => {
  const heard: number[] = [];
  const { client, project } = await install(
    (turn, request) => {
      heard.push(JSON.stringify(request.messages).split("broken words").length - 1);
      return turn === 0 ? edit("A broken greeting.") : finish;
    },
    { docs, settings },
    programs,
  );
  const { id } = await client.create({ prompt: "Greet." });
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  const run = await client.run(id);
  expect(run.pullRequest).toMatchObject({ draft: true });
  expect(run.findings?.introduced).toMatchObject([
    {
      check: "build",
      severity: "error",
      path: "docs/index.md",
      line: 3,
      message: expect.stringContaining("broken words"),
    },
  ]);
  expect((await pullOf(project.id))?.body).toContain("The site's builder refuses this change");
  // The finding was sent back twice.
  expect(heard.at(-1)).toBeGreaterThanOrEqual(2);
});

builds("an agent that asks for a build repairs its change, which is ready (needs bubblewrap)", async () => {
  const answers: string[] = [];
  const { client } = await install(
    (turn, request) => {
      answers.push(JSON.stringify(request.messages.at(-1)));
      const turns: readonly FarTurn[] = [edit("A broken greeting."), [["build", {}]]];
      const repaired: FarTurn = [
        ["edit_file", { path: "docs/index.md", oldText: "A broken greeting.", newText: "A greeting." }],
      ];
      return [...turns, repaired, [["build", {}]] as FarTurn][turn] ?? finish;
    },
    { docs, settings },
    programs,
  );
  const { id } = await client.create({ prompt: "Greet." });
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  expect(answers[2]).toContain("docs/index.md:3");
  expect(answers[4]).toContain("it builds, with nothing new to complain about");
  const run = await client.run(id);
  expect(run).toMatchObject({ pullRequest: { draft: false }, findings: { introducedCount: 0 } });
});

const pictures = test.skipIf(sandbox.kind !== "usable" || (await findChromium(process.env.PATH ?? "")) === null);

pictures(
  "the agent sees a page of its change, and so does whoever opens the job (needs bubblewrap and Chromium)",
  async () => {
    const copy = `import { cpSync, mkdirSync } from "node:fs";\nmkdirSync("out/docs", { recursive: true });\ncpSync("docs/index.md", "out/docs/index.html");\n`;
    const own = { secondReader: false, build: { ...build, output: "out" } };
    const { client, far } = await install(
      (turn) => [edit("A greeting."), [["look", { path: "docs/index.md" }]] as FarTurn][turn] ?? finish,
      { docs: { ...docs, "build.mjs": copy }, settings: own },
      programs,
    );
    const { id } = await client.create({ prompt: "Greet." });
    expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
    // The mock keeps the words of a request only.
    expect(JSON.stringify(far.requests[2])).toContain("docs/index.md, in a window of 1280 pixels");
    const taken = await query(
      "select path, width, side, marks <> '[]' as differs from page_pictures order by width, side",
    );
    expect(taken.map(({ path, width, side, differs }) => [path, width, side, differs])).toEqual([
      ["docs/index.md", 390, "after", true],
      ["docs/index.md", 390, "before", true],
      ["docs/index.md", 1280, "after", true],
      ["docs/index.md", 1280, "before", true],
    ]);
  },
);

builds("people's commits on a job's branch are not run (needs bubblewrap)", async () => {
  const again: FarTurn = [["edit_file", { path: "docs/index.md", oldText: "Hello.", newText: "Hello again." }]];
  const turns = [edit("Hello."), finish, again];
  const reply: FarTurn = [["finish", { summary: "It greets twice.", reply: "Greeted again." }]];
  const { client, project } = await install(() => turns.shift() ?? reply, { docs, settings }, programs);
  const { id } = await client.create({ prompt: "Greet." });
  const job = await client.untilFinal(id);
  await commitByPerson(project.id, job.source.ref ?? "", "build.mjs", "process.exit(9);\n");
  expect((await client.send(`/job/${id}/message`, { prompt: "Greet again." })).status).toBe(200);
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  expect((await client.run(id)).findings?.introduced).toMatchObject([
    { check: "build", severity: "info", message: expect.stringContaining("people have changed files on its branch") },
  ]);
});

test("without a sandbox, a line says so and the change is published as before", async () => {
  const { client } = await install(
    (turn) => (turn === 0 ? edit("A broken greeting.") : finish),
    { docs, settings },
    { ...programs, EMEND_BUILDS_AT_ONCE: "0" },
  );
  const { id } = await client.create({ prompt: "Greet." });
  expect(await client.untilFinal(id)).toMatchObject({ status: "completed" });
  const run = await client.run(id);
  expect(run.pullRequest).toMatchObject({ draft: false });
  expect(run.findings?.introduced).toMatchObject([
    { check: "build", severity: "info", message: expect.stringContaining("EMEND_BUILDS_AT_ONCE is 0") },
  ]);
});

test("a project that did not turn it on is not built", async () => {
  const { client, far } = await install((turn) => (turn === 0 ? edit("A broken greeting.") : finish), {
    docs,
    settings: { secondReader: false },
  });
  const { id } = await client.create({ prompt: "Greet." });
  await client.untilFinal(id);
  expect(await client.run(id)).toMatchObject({ pullRequest: { draft: false }, findings: { introducedCount: 0 } });
  expect(JSON.stringify(far.requests[0])).not.toContain("what its builder newly complains about");
});
