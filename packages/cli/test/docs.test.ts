// Costly: the commands of our own docs are typed as a reader types them.
import { readdir, readFile, stat } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { failureCodes, requestErrorCodes } from "@emend/contract";
import { Emend } from "@emend/sdk";
import { readConfig } from "@emend/server";
import { startApi } from "@emend/testkit/api.ts";
import { expect, test } from "vitest";
import { renderReference } from "./support/render-reference.ts";
import { runEmend } from "./support/run-emend.ts";
import { commandSettings, serverSettings } from "./support/setting-names.ts";

const docs = join(import.meta.dirname, "..", "..", "..", "docs");
const page = (name: string) => readFile(join(docs, name), "utf8");

test("our own docs pass emend check", async () => {
  const { code, stdout } = await runEmend(["check", docs, "--json"]);
  expect(JSON.parse(stdout).findings.filter(({ severity }: { severity: string }) => severity === "error")).toEqual([]);
  expect(code).toBe(0);
});

/** A claim of the README, and where docs/results.md has its figure. */
const claims: readonly [claim: RegExp, recorded: RegExp][] = [
  [/reaches ([\d.]+) of the throughput of\s+bare/, /\| reading a job: .*\n.*\n\| ([\d.]+) \|/],
  [/creating one reaches ([\d.]+) of a bare/, /\| creating a job: .*\n.*\n\| ([\d.]+) \|/],
  [/has the job after ([\d.]+) ms/, /\| Emend \(this commit\) \|[^|]*\| ([\d.]+) ms/],
  [/another one continues after ([\d,]+) ms/, /failover of \d+ runs, p50: ([\d,]+) ms/],
  [/is (\d+) times faster than cloning/, /\| preparing a job, .*\n.*\n\| (\d+)× \|/],
  [/10,000 pages (\d+) times faster than\s+remark-validate-links/, /faster than remark-validate-links \| (\d+)×/],
];

test("the README's figures are those of docs/results.md, which its commands wrote", async () => {
  const [readme, results] = [await page("../README.md"), await page("results.md")];
  for (const [claim, recorded] of claims) {
    const [said, measured] = [claim.exec(readme)?.[1], recorded.exec(results)?.[1]];
    expect(said, String(claim)).toBeDefined();
    expect(Number(said), String(claim)).toBe(Number(measured));
  }
  // A figure with a unit of speed that no row above knows is a claim without a proof.
  const why = readme.slice(readme.indexOf("## Why"), readme.indexOf("## What it does not do"));
  const figures = [...why.matchAll(/[\d.]+ (?:ms|s|times)\b|reaches\s+[\d.]+/g)];
  expect(figures).toHaveLength(claims.length);
});

test("every failure code has its section, and every refusal its line", async () => {
  const text = await page("troubleshooting.md");
  const sections = [...text.matchAll(/^### (\w+)$/gm)].map(([, name]) => name);
  expect(sections).toEqual([...failureCodes]);
  for (const code of requestErrorCodes) expect(text).toMatch(new RegExp(`^\\| \\d{3} +\\| \`${code}\` +\\|`, "m"));
});

test("the API reference matches the OpenAPI document (npm run build:reference updates it)", async () => {
  const api = await startApi();
  try {
    const reference = renderReference(api.document as unknown as Parameters<typeof renderReference>[0]);
    expect(reference, "a table without rows").not.toMatch(/\|---\|\n\n/);
    await expect(reference).toMatchFileSnapshot(join(docs, "api.md"));
  } finally {
    await api.close();
  }
});

test("the table has exactly the settings that are read", async () => {
  const rows = [...(await page("deploy.md")).matchAll(/^\| (`EMEND_[^|]*)\|/gm)].map(([, cell = ""]) => cell);
  const named = rows.flatMap((cell) => cell.match(/EMEND_[A-Z_]+[A-Z]/g) ?? []);
  expect(named.toSorted()).toEqual([...serverSettings(), ...commandSettings()].toSorted());
});

test("each setting can be read from a file, and each error about a setting names it", () => {
  const nowhere = "/no/such/file";
  const silent: string[] = [];
  for (const name of serverSettings()) {
    const isFile = name.endsWith("_FILE");
    const problemsOf = (variable: string, value: string) => readConfig({ [variable]: value }).problems;
    expect(problemsOf(isFile ? name : `${name}_FILE`, nowhere).join("\n")).toContain(
      `${name}${isFile ? "" : "_FILE"} names`,
    );
    const problems = ["-1", "?", "x y", "ftp://x", "/dev/null", nowhere].flatMap((value) => problemsOf(name, value));
    for (const problem of problems) expect(problem).toContain(name);
    if (problems.length === 0) silent.push(name);
  }
  // These take any text.
  expect(silent).toEqual(["EMEND_COMPATIBLE_API_KEY"]);
});

const frontMatterOf = (text: string, name: string) => new RegExp(`^${name}: (.+)$`, "m").exec(text)?.[1] ?? "";

test("llms.txt lists every page of the navigation, with its description", async () => {
  const { navigation } = JSON.parse(await page("docs.json"));
  const parts = [];
  for (const { group, pages } of navigation.groups as { group: string; pages: string[] }[]) {
    const lines = pages.map(async (name) => {
      const text = await page(`${name}.md`);
      return `- [${frontMatterOf(text, "title")}](${name}.md): ${frontMatterOf(text, "description")}`;
    });
    parts.push(`## ${group}\n\n${(await Promise.all(lines)).join("\n")}\n`);
  }
  const about = "> Emend turns an instruction into a pull request on your documentation. You host it.";
  const file = join(import.meta.dirname, "..", "..", "..", "docs", "llms.txt");
  await expect(`# Emend\n\n${about}\n\n${parts.join("\n")}`).toMatchFileSnapshot(file);
});

test("the skill has a name and a description as agents expect them", async () => {
  const text = await page("../skills/emend/SKILL.md");
  expect(frontMatterOf(text, "name")).toBe("emend");
  expect(frontMatterOf(text, "description").length).toBeLessThanOrEqual(1024);
  expect(text.split("\n").length).toBeLessThan(500);
});

test("the command line's page names every command", async () => {
  const text = await page("cli.md");
  const { stdout } = await runEmend(["--help"]);
  const names = [...stdout.matchAll(/^ {2}([a-z]+)[ |]/gm)].map(([, name]) => name);
  expect(names).toContain("serve");
  for (const name of names) expect(text).toContain(`emend ${name}`);
});

const packagesByName = /^(agent|base|build|cli|contract|forges|lsp|publish|review|runners|site|testkit|tree)\//;

/** A path as ARCHITECTURE.md writes it, from the repository's root. */
function pathOf(named: string): string {
  if (/^(packages|docs)\//.test(named)) return named;
  return packagesByName.test(named)
    ? named.replace(packagesByName, "packages/$1/src/")
    : join("packages/server/src", named);
}

test("each step of ARCHITECTURE.md's paths names a file and a function that it declares", async () => {
  const steps = [...(await page("../ARCHITECTURE.md")).matchAll(/^(\S+\.ts) +(\w+) /gm)];
  expect(steps.length).toBeGreaterThan(40);
  for (const [, file = "", name] of steps) {
    const source = await page(join("..", pathOf(file)));
    expect(source, file).toMatch(new RegExp(`^(export )?(async )?(function|const) ${name}\\b`, "m"));
  }
});

test("ARCHITECTURE.md names only files and folders that exist", async () => {
  const words = (await page("../ARCHITECTURE.md")).split(/[\s`(),;:]+/);
  const named = words.filter((word) => /^[\w.-]+\/([\w./-]+\.(ts|sql|md)|[\w./-]*\/|)$/.test(word));
  const missing = [];
  for (const path of new Set(named)) {
    const isThere = await stat(join(docs, "..", pathOf(path))).catch(() => null);
    if (!isThere && !path.includes("NNNN")) missing.push(path);
  }
  expect(missing).toEqual([]);
});

test("ARCHITECTURE.md's tables allow the imports that the boundaries check allows", async () => {
  const { forbidden } = createRequire(import.meta.url)("../../../.dependency-cruiser.cjs");
  const [packages = "", folders = ""] = (await page("../ARCHITECTURE.md")).split("| folder of the server |");
  const rules = forbidden.flatMap(({ comment = "", from }: { comment?: string; from: { path?: string } }) => {
    const [, name, list = ""] = /^(\w+) may import (.*)$/.exec(comment) ?? [];
    const isFolder = from.path?.startsWith("^packages/server/src/") && name !== "server";
    const mayImport = list.split(", ").filter((each) => !["", "lib", "errors"].includes(each));
    return name && name !== "lib" ? [{ name, table: isFolder ? folders : packages, mayImport }] : [];
  });
  expect(rules.length).toBeGreaterThan(25);
  for (const { name, table, mayImport } of rules) {
    const [, cell = ""] = new RegExp(`^\\| \`${name}\` \\|[^|]*\\| (.*) \\|$`, "m").exec(table) ?? [];
    const names = cell.replaceAll(/ \([^)]*\)/g, "").split(", ");
    expect(names, name).toEqual(mayImport.length === 0 ? ["–"] : mayImport.toSorted());
  }
});

test("docs/scale.md has the pool's size of the code", async () => {
  const parts = await page("../packages/server/src/compose/parts.ts");
  const [, said] = /`EMEND_CONCURRENCY` \+ (\d+) connections for queries/.exec(await page("scale.md")) ?? [];
  expect(said).toBeDefined();
  expect(parts).toContain(`connectionsMax: config.concurrency + ${said},`);
});

test("paths of this repository and npm commands that the docs name exist", async () => {
  const root = join(docs, "..");
  const { scripts } = JSON.parse(await page("../package.json"));
  const names = (await readdir(docs, { recursive: true })).filter((name) => name.endsWith(".md"));
  const tests = (await readdir(join(root, "packages"), { recursive: true })).filter((name) =>
    name.endsWith(".test.ts"),
  );
  const missing: string[] = [];
  for (const name of [...names, "../README.md", "../CONTRIBUTING.md", "../SECURITY.md"]) {
    const text = await page(name);
    const paths = text.match(/(?<=`)(?:packages|scripts|deploy|action|docs)\/[\w./-]*(?=`)/g) ?? [];
    for (const path of paths) {
      // Built, or of an example's site.
      const isOurs = !/\/dist\b|^docs\/(?!decisions|results|images|[\w-]+\.(?:md|json)$)/.test(path);
      if (isOurs && !(await stat(join(root, path)).catch(() => null))) missing.push(`${name}: ${path}`);
    }
    for (const [, script = "", rest = ""] of text.matchAll(/npm run ([\w:-]+)((?: [\w./*-]+)*)/g)) {
      if (!(script in scripts)) missing.push(`${name}: npm run ${script}`);
      const filters =
        script === "unit"
          ? rest.split(" ").filter((word) => /^[\w.-]*[a-z][\w./-]*$/.test(word) && !word.startsWith("-"))
          : [];
      for (const filter of filters.filter((word) => word !== "whole")) {
        if (!tests.some((test) => `packages/${test}`.includes(filter)))
          missing.push(`${name}: npm run unit -- ${filter}`);
      }
    }
  }
  expect(missing).toEqual([]);
});

test("the SDK's README names every method", async () => {
  const text = await page("../packages/sdk/README.md");
  const emend = new Emend({ baseUrl: "http://127.0.0.1:1", apiKey: "emend_x" });
  const rooms = { claims: emend.claims("p"), gates: emend.gates("p"), automations: emend.automations("p") };
  for (const [room, methods] of Object.entries(rooms)) {
    const [, named = ""] = new RegExp(`emend\\.${room}\\(projectId\\)\` has ([^.;]*)`).exec(text) ?? [];
    for (const method of Object.keys(methods)) expect(named, `${room}.${method}`).toContain(`\`${method}\``);
  }
  for (const method of Object.keys(emend.jobs("p"))) expect(text).toMatch(new RegExp(`\`${method}[\`(]`));
  const own = Object.getOwnPropertyNames(Emend.prototype).filter((name) => name !== "constructor");
  for (const method of own) expect(text).toContain(`.${method}(`);
});
