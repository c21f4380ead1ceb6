import { trySandbox } from "@emend/runners";
import { type StandIn, standIn } from "@emend/testkit/runners/stand-in.ts";
import { clientOf, createInstallation, type Installation } from "@emend/testkit/whole-server.ts";
import { startBound } from "@emend/tree";
import { afterAll, beforeAll, expect, test, vi } from "vitest";

vi.setConfig({ testTimeout: 120_000 });

const trial = await trySandbox(startBound, process.env.PATH ?? "");
const isSandboxed = trial.kind === "usable";
const runners = ["runner/claude-code", "runner/codex", "runner/opencode"];

/** First it leaves a broken link, and fixes it after the review. If asked to change the workflows, it writes there. */
const script = `
if (prompt.includes("workflow")) {
  fs.mkdirSync(".github/workflows", { recursive: true });
  fs.writeFileSync(".github/workflows/x.yml", "on: push\\n");
}
const isTold = prompt.includes("the review found this");
fs.writeFileSync("setup.mdx", "---\\ntitle: Setup\\n---\\n\\nSee [home](" + (isTold ? "/index" : "/hmoe-sweet-home") + ").\\n");
answer("TITLE: Link home\\nSUMMARY:\\n" + (isTold ? "Repaired the link." : "Added a link."));`;

let programs: StandIn;
let installation: Installation;
let client: ReturnType<typeof clientOf>;
beforeAll(async () => {
  programs = await standIn(script);
  installation = await createInstallation({
    PATH: programs.path,
    ANTHROPIC_API_KEY: "sk-anthropic-0123456789",
    OPENAI_API_KEY: "sk-openai-0123456789",
    EMEND_MODEL: "runner/claude-code",
    EMEND_RUNNER_UNSANDBOXED: isSandboxed ? "0" : "1",
  });
  const server = await installation.start();
  const repo = await installation.makeDocs({
    "docs.json": JSON.stringify({ navigation: [{ group: "Guides", pages: ["index", "setup"] }] }),
    "index.mdx": "---\ntitle: Home\n---\n\nSee [setup](/setup).\n",
    "setup.mdx": "---\ntitle: Setup\n---\n\nTen minutes.\n",
  });
  const project = await server.admin.addProject({ name: "Docs", forge: "local", repo, settings: { models: runners } });
  const { key } = await server.admin.createKey({ projectIds: [project.id], name: "test", scope: "write" });
  client = clientOf(server, project.id, key);
}, 120_000);
afterAll(async () => {
  await installation.remove();
  await programs.remove();
});

const how = isSandboxed ? "in bubblewrap" : "without a sandbox, because bubblewrap is not usable here";

test(`jobs by each runner, ${how}, hear the review and open a pull request`, async () => {
  const jobs = await Promise.all(
    runners.map((model) => client.create({ prompt: "Link the setup page to the home page.", model })),
  );
  for (const [index, { id }] of jobs.entries()) {
    const final = await client.untilFinal(id);
    const run = await client.run(id);
    expect({ ...final, failure: run.failure }).toMatchObject({
      status: "completed",
      model: runners[index],
      failure: null,
      prLink: expect.stringMatching(/\/pull\/\d+$/),
    });
    expect(run.steps.count).toBe(2);
    expect((await client.send(`/job/${id}/diff`)).text).toContain("+See [home](/index).");
  }
});

test("a runner's change of what policy forbids is published nowhere", async () => {
  const job = await client.create({ prompt: "Add a workflow." });
  const final = await client.untilFinal(job.id);
  const run = await client.run(job.id);
  expect(final).toMatchObject({ status: "failed", prLink: null });
  expect(run.failure).toMatchObject({ code: "policy_denied", message: expect.stringContaining(".github") });
});
