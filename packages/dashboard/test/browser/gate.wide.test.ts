// Costly: keyboard, layout and contrast exist in a browser only.
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { journey, openDashboard } from "./support/dashboard.ts";
import { go } from "./support/go.ts";
import { expectGood } from "./support/judge.ts";
import { press, type } from "./support/keyboard.ts";
import { take } from "./support/looks.ts";

const dashboard = openDashboard();
const git = (cwd: string, ...args: string[]) =>
  promisify(execFile)("git", ["-c", "user.name=Ann", "-c", "user.email=ann@example.com", ...args], { cwd });
let page: Page;
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-gate-"));
  page = await dashboard.logIn();
  dashboard.keep(page);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function repository(name: string, files: Record<string, string>): Promise<string> {
  const folder = join(dir, name);
  await mkdir(folder, { recursive: true });
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text);
  await git(folder, "init", "--quiet", "--initial-branch=main");
  await git(folder, "add", "-A");
  await git(folder, "commit", "--quiet", "-m", "begin");
  return folder;
}

const cli = (to: string, wait: string) => `option("${to}");\noption("--wait", "how long", "${wait}");\n`;

/** Docs and code, and a pull request that renames a flag and changes a default. */
async function openPull(name: string): Promise<string> {
  const { admin, url } = dashboard.server;
  const page = "# Run\n\nPass them on with `--send-to`.\n\nIt waits: `--wait` (default `30s`).\n";
  const docsDir = await repository(`${name}-docs`, { "run.md": page });
  const codeDir = await repository(`${name}-code`, { "cli.js": cli("--send-to", "30s") });
  const gate = { sources: "failing" };
  const docs = await admin.addProject({ name: `${name} docs`, forge: "local", repo: docsDir, settings: { gate } });
  const code = await admin.addProject({ name: `${name} code`, forge: "local", repo: codeDir });
  await admin.addContextRepository({ projectId: docs.id, name: "code", forge: "local", repo: code.id });
  const { key } = await admin.createKey({ projectIds: [code.id], name: "CI", scope: "write" });
  await git(codeDir, "switch", "--quiet", "--create", "topic");
  await writeFile(join(codeDir, "cli.js"), cli("--forward-to", "60s"));
  await git(codeDir, "commit", "--quiet", "--all", "-m", "Rename the flag");
  const header = `http.extraHeader=Authorization: Bearer ${key}`;
  await git(codeDir, "-c", header, "push", "--quiet", `${url}/git/${code.id}.git`, "topic");
  const opened = await fetch(`${url}/forge/${code.id}/pulls`, {
    method: "POST",
    redirect: "manual",
    headers: { authorization: `Bearer ${key}` },
    body: new URLSearchParams({ head: "topic", title: "Rename the flag" }),
  });
  expect(opened.status).toBe(303);
  const failed = async () => (await admin.listGateStatuses(docs.id)).find(({ state }) => state === "failed")?.id;
  await expect.poll(failed, { timeout: 60_000 }).toBeDefined();
  return (await failed()) ?? "";
}

journey("shows each finding with page, code and fix, opens its line, silences one, fixes another", async (look) => {
  const id = await openPull(look.name);
  await take(page, look);
  await go(page, `/app/gates/${id}`);
  const places = page.getByRole("region", { name: "Places" });
  await places.getByText("Pass them on with `--send-to`.").waitFor();
  await places.getByText('option("--send-to");').waitFor();
  await places.getByText('option("--forward-to");').waitFor();
  await places.getByText("Pass them on with `--forward-to`.").waitFor();
  await places.getByText("It waits: `--wait` (default `60s`).").waitFor();
  await press(page.getByText("What the fix asks for"));
  await page.getByText('In run.md, replace "--send-to" with "--forward-to", also in code.').waitFor();
  await expectGood(page);

  await press(places.getByRole("button", { name: "This is wrong" }).last());
  await type(places.getByLabel("Why is the page right?"), "The server waits, not the client");
  await expectGood(page);
  await page.keyboard.press("Enter");
  await places.getByText("It waits: `--wait`").first().waitFor({ state: "detached", timeout: 30_000 });
  await page.getByText("1 page mentions what this removes or renames.").waitFor();
  const { entries } = (await (await page.request.get(`${dashboard.url}/dashboard/api/audit`)).json()) as {
    entries: { action: string; details: unknown }[];
  };
  expect(entries.find(({ action }) => action === "finding.wrong")?.details).toMatchObject({
    check: "stale-fact",
    path: "run.md",
    message: "`--wait` has the default `60s` now, not `30s`",
    reason: "The server waits, not the client",
  });

  await press(places.getByRole("link", { name: "run.md:3" }));
  // The editor has chosen the line.
  const chosen =
    "((field) => String(field.value?.slice(field.selectionStart, field.selectionEnd)))(document.activeElement)";
  await expect.poll(() => page.evaluate(chosen), { timeout: 20_000 }).toContain("Pass them on with");
  await expectGood(page);

  await go(page, `/app/gates/${id}`);
  await press(places.getByRole("button", { name: "Propose a fix for run.md:3" }));
  await page
    .getByRole("heading", { name: 'In run.md, replace "--send-to" with "--forward-to", also in code.' })
    .waitFor();
});
