import { execFile } from "node:child_process";
import { mkdtemp, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { failureCodes, requestErrorCodes } from "@emend/contract";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startApi } from "../../server/test/support/api.ts";
import { nodeEnvironment } from "../../server/test/support/node-environment.ts";
import { type Installation, startInstallation } from "./support/installation.ts";
import { renderReference } from "./support/render-reference.ts";
import { runEmend } from "./support/run-emend.ts";
import { commandSettings, serverSettings } from "./support/setting-names.ts";

const docs = join(import.meta.dirname, "..", "..", "..", "docs");
const page = (name: string) => readFile(join(docs, name), "utf8");

let emend: Installation;
beforeAll(async () => {
  emend = await startInstallation();
});
afterAll(() => emend.stop());

async function samples(name: string, language: string): Promise<string> {
  const blocks = [...(await page(name)).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))];
  expect(blocks.length).toBeGreaterThan(0);
  return blocks.map(([, code = ""]) => code).join("\n");
}

async function run(program: string, args: string[], cwd: string): Promise<string> {
  const env = { PATH: process.env.PATH, ...emend.env };
  return (await promisify(execFile)(program, args, { cwd, env })).stdout;
}

test("our own docs pass emend check", async () => {
  const { code, stdout } = await runEmend(["check", docs, "--json"]);
  expect(JSON.parse(stdout).findings.filter(({ severity }: { severity: string }) => severity === "error")).toEqual([]);
  expect(code).toBe(0);
});

test("every failure code has its section, and every refusal its line", async () => {
  const text = await page("troubleshooting.md");
  const sections = [...text.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect(sections).toEqual([...failureCodes]);
  for (const code of requestErrorCodes) expect(text).toMatch(new RegExp(`^\\| \\d{3} +\\| \`${code}\` +\\|`, "m"));
});

test("the API reference is what the OpenAPI document says (npm run build:reference writes it anew)", async () => {
  const api = await startApi();
  try {
    await expect(renderReference(api.document as unknown as Parameters<typeof renderReference>[0])).toMatchFileSnapshot(
      join(docs, "api.md"),
    );
  } finally {
    await api.close();
  }
});

test("the samples for curl run as they stand", async () => {
  const printed = await run("bash", ["-euo", "pipefail", "-c", await samples("integrate.md", "sh")], emend.dir);
  expect(printed).toMatch(/"status":"completed"/);
  expect(printed).toContain('"nextCursor":null');
  expect(printed).toMatch(/^diff --git /m);
  expect(printed).toMatch(/^event: completed$/m);
  const migrated = await run("bash", ["-c", await samples("migrating.md", "sh")], emend.dir);
  expect(JSON.parse(migrated)).toMatchObject({ status: "active", prLink: null });
});

test("the sample for TypeScript runs as it stands", async () => {
  const code = await samples("integrate.md", "ts");
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module-typescript", "--eval", code];
  expect(await run(process.execPath, args, import.meta.dirname)).toMatch(/^completed http.*\n[\s\S]*completed\n$/);
});

test("every setting that is read stands in the table, and every one in the table is read", async () => {
  const rows = [...(await page("deploy.md")).matchAll(/^\| (`EMEND_[^|]*)\|/gm)].map(([, cell = ""]) => cell);
  const named = rows.flatMap((cell) => cell.match(/EMEND_[A-Z_]+[A-Z]/g) ?? []);
  expect(named.toSorted()).toEqual([...serverSettings(), ...commandSettings()].toSorted());
});

test("an empty project of the local forge is filled by git as its page says", async () => {
  const [, block = ""] = /^## An empty project[\s\S]*?^```sh\n([\s\S]*?)^```/m.exec(await page("local-forge.md")) ?? [];
  expect(block).toContain("git push");
  const bin = await mkdtemp(join(emend.dir, "bin-"));
  const emendProgram = `#!/bin/sh\nexec ${process.execPath} --disable-warning=ExperimentalWarning ${join(import.meta.dirname, "..", "src", "main.ts")} "$@"\n`;
  await writeFile(join(bin, "emend"), emendProgram, { mode: 0o755 });
  const env = {
    ...nodeEnvironment,
    PATH: `${bin}:${process.env.PATH}`,
    HOME: bin,
    EMEND_DATA_DIR: emend.dataDir,
    EMEND_URL: emend.url,
    EMEND_LOG_LEVEL: "silent",
  };
  const script = `git config --global user.name Ada && git config --global user.email ada@example.com\n${block}`;
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { cwd: bin, env });
  expect(stdout).toMatch(/http:\S+\/pull\/1\n$/);
});

test("the command line's page names every command", async () => {
  const text = await page("cli.md");
  const { stdout } = await runEmend(["--help"]);
  const names = [...stdout.matchAll(/^ {2}([a-z]+)[ |]/gm)].map(([, name]) => name);
  expect(names).toContain("serve");
  for (const name of names) expect(text).toContain(`emend ${name}`);
});
