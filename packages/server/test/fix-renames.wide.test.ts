import { rulesModelName } from "@emend/base/model-names.ts";
import type { DashboardHealth } from "@emend/contract";
import { useModelProject } from "@emend/testkit/model-project.ts";
import { expect, test, vi } from "vitest";
import { askClaimPoll } from "../src/tasks/start-tasks.ts";

const models = useModelProject();
const { git, commitByPerson } = models;

const option = (flag: string) => `export const options = [{ flag: "${flag}", words: "Where to write" }];\n`;
const page = (title: string, flag: string) => `# ${title}\n\nWrite to a file with \`${flag}\`.\n`;
const pages = (flag: string) => ({ "run.md": page("Run", flag), "guides/build.md": page("Build", flag) });

/** Docs that name a flag on two pages, and the code that defines it, on a server without a language model. */
async function installWithCode() {
  const docs = { "index.md": "# Home\n\n[Run](run.md), [build](guides/build.md)\n", ...pages("--out-file") };
  const settings = { models: [rulesModelName], gate: { sources: "failing", docs: "off" } };
  const { server, installation, project, client } = await models.install(
    () => [],
    { docs, settings },
    { EMEND_MODEL: rulesModelName },
  );
  const repo = await installation.makeDocs({ "src/cli.ts": option("--out-file") });
  const off = { gate: { docs: "off" } };
  const code = await server.admin.addProject({ name: "Code", forge: "local", repo, settings: off });
  await server.admin.addContextRepository({ projectId: project.id, name: "code", forge: "local", repo: code.id });
  /** The pages as the job's pull request has them. */
  async function expectBothMended(jobId: string): Promise<void> {
    expect(await client.untilFinal(jobId)).toMatchObject({ status: "completed", prLink: expect.any(String) });
    for (const [path, text] of Object.entries(pages("--output-file")))
      expect(`${await git(project.id, "show", `emend/${jobId}:${path}`)}\n`).toBe(text);
  }
  return { server, installation, project, code, client, expectBothMended };
}

test("the fix of a code's pull request that renames a flag replaces it on both pages, without a model", async () => {
  const { server, project, code, expectBothMended } = await installWithCode();
  await git(code.id, "branch", "topic", "main");
  await commitByPerson(code.id, "topic", "src/cli.ts", option("--output-file"));
  const { key } = await server.admin.createKey({ projectIds: [code.id], name: "person", scope: "write" });
  const opened = await fetch(`${server.url}/forge/${code.id}/pulls`, {
    method: "POST",
    redirect: "manual",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ head: "topic", title: "Rename" }).toString(),
  });
  expect(opened.status).toBe(303);
  const statuses = () => server.admin.listGateStatuses(project.id);
  await vi.waitUntil(async () => (await statuses()).some(({ state }) => state === "failed"), { timeout: 60_000 });
  const [failed] = await statuses();
  expect(failed?.words).toBe("2 pages mention what this removes or renames.");

  const { jobId } = await server.admin.startDocsJob(failed?.id ?? "");
  await expectBothMended(jobId);
  await vi.waitUntil(async () => (await statuses()).some(({ state }) => state === "passed"), { timeout: 60_000 });
});

test("the fix that the health page suggests after a push replaces the flag on both pages, without a model", async () => {
  const { server, installation, project, code, client, expectBothMended } = await installWithCode();
  const { pool } = installation.database;
  const login = await fetch(await server.admin.createLoginLink("/app"), { redirect: "manual" });
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  async function readHealth(): Promise<DashboardHealth> {
    const response = await fetch(`${server.url}/dashboard/api/projects/${project.id}/health`, { headers: { cookie } });
    return (await response.json()) as DashboardHealth;
  }
  await askClaimPoll(pool, project.id);
  const isCompared = async () => {
    const { rows } = await pool.query("select from reference_looks where project_id = $1", [project.id]);
    return rows.length > 0;
  };
  await vi.waitUntil(isCompared, { timeout: 60_000 });
  await commitByPerson(code.id, "main", "src/cli.ts", option("--output-file"));
  await askClaimPoll(pool, project.id);
  await vi.waitUntil(async () => (await readHealth()).fixes.length > 0, { timeout: 60_000 });
  const [fix] = (await readHealth()).fixes;
  expect(fix?.because).toBe("the code renamed 1 name that pages use");
  const { id } = await client.create({ prompt: fix?.prompt ?? "" });
  await expectBothMended(id);
});
