// Costly: a sample of the docs is true if it runs as a reader types it.
import { execFile } from "node:child_process";
import { cp, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { WebhookMessage } from "@emend/contract";
import { Emend } from "@emend/sdk";
import { readConfig } from "@emend/server";
import { makePng } from "@emend/testkit/pictures.ts";
import { hasProgram } from "@emend/testkit/programs.ts";
import { nodeEnvironment } from "@emend/testkit/server.ts";
import type { Command } from "commander";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse as parseYaml } from "yaml";
import type { Cli } from "../src/cli.ts";
import { buildProgram } from "../src/run-cli.ts";
import { type Installation, startInstallation } from "./support/installation.ts";
import { writeProgram } from "./support/run-emend.ts";

/**
 * Every fenced block of README and docs/ is tested. Its language says how. A block that cannot run here says why on its
 * first line: ```sh not-run: needs Docker
 */
const root = join(import.meta.dirname, "..", "..", "..");
/** Other tests cover these: phrasings.test.ts runs every rule, docs.test.ts generates the reference. */
const heldElsewhere = ["rules.md", "api.md"];

interface Block {
  page: string;
  language: string;
  reason: string | null;
  code: string;
}

const pages = [
  "README.md",
  "CONTRIBUTING.md",
  "packages/sdk/README.md",
  ...(await readdir(join(root, "docs"), { recursive: true }))
    .filter((name) => name.endsWith(".md") && !heldElsewhere.includes(basename(name)))
    .map((name) => `docs/${name}`)
    .toSorted(),
  // Last: it creates a job, and a page before it counts those.
  "skills/emend/SKILL.md",
];
const blocks = (await Promise.all(pages.map(readBlocks))).flat();

async function readBlocks(page: string): Promise<readonly Block[]> {
  const text = await readFile(join(root, page), "utf8");
  return [...text.matchAll(/^( *)(`{3,})([^\n`]*)\n([\s\S]*?)^\1\2 *$/gm)].map(([, , , info = "", code = ""]) => {
    const [, language = "", reason] = /^(\S*)(?: not-run: (.+))?$/.exec(info.trim()) ?? [];
    return { page, language, reason: reason ?? null, code };
  });
}

const ofLanguage = (...languages: string[]) =>
  blocks.filter(({ language, reason }) => reason === null && languages.includes(language));

/** The error for a block that fails. */
const nameOf = ({ page, code }: Block) => `${page}: ${code.trim().split("\n")[0]}`;

test("every block is run or checked, or says why not", async () => {
  const held = ["sh", "js", "ts", "json", "yaml", "ini", "usage"];
  // Output and sample files are not commands.
  const unheld = blocks.filter(
    ({ language, reason }) => reason === null && ![...held, "text", "md"].includes(language),
  );
  expect(unheld.map(nameOf), "name a language that this file runs, or say ```sh not-run: why").toEqual([]);
  const list = blocks.filter(({ reason }) => reason !== null).map((block) => `- ${block.page}, ${block.reason}`);
  const words = "Commands and samples of the docs that no test runs as they stand, and why (docs-samples.test.ts):";
  await expect(`${words}\n\n${[...new Set(list)].join("\n")}\n`).toMatchFileSnapshot("docs-not-run.md");
});

test("JSON samples are what Emend reads or sends", async () => {
  const schema = JSON.parse(await readFile(join(root, "docs/check.schema.json"), "utf8"));
  const events: string[] = WebhookMessage.anyOf.map(({ properties }) => properties.type.const);
  for (const block of ofLanguage("json")) {
    const value = JSON.parse(block.code);
    if ("checks" in value) {
      expect(Object.keys(schema.properties), nameOf(block)).toEqual(expect.arrayContaining(Object.keys(value)));
      const checks = schema.properties.checks.properties;
      expect(Object.keys(checks), nameOf(block)).toEqual(expect.arrayContaining(Object.keys(value.checks)));
    } else if ("type" in value) expect(events, nameOf(block)).toContain(value.type);
  }
});

test("YAML samples use inputs that the Action has", async () => {
  const { inputs } = parseYaml(await readFile(join(root, "action/action.yml"), "utf8"));
  for (const block of ofLanguage("yaml")) {
    const value = parseYaml(block.code);
    for (const step of Array.isArray(value) ? value : []) {
      if (!step.uses?.includes("emend/action")) continue;
      expect(Object.keys(inputs), nameOf(block)).toEqual(expect.arrayContaining(Object.keys(step.with)));
    }
  }
});

test("settings in samples are settings", () => {
  for (const block of ofLanguage("ini")) {
    const env = Object.fromEntries(
      block.code
        .trim()
        .split("\n")
        .map((line) => line.trim().split("=") as [string, string])
        // The folders of a deployment: an ordinary user may not write there.
        .map(([name, value]) => [name, name.endsWith("_DIR") ? join(tmpdir(), value) : value]),
    );
    const { problems, config } = readConfig(env);
    expect([...problems, ...config.unknownSettings], nameOf(block)).toEqual([]);
  }
});

test("synopses name commands, arguments and options that exist", () => {
  const streams = { stdout: process.stdout, stderr: process.stderr };
  const program = buildProgram(streams as unknown as Cli);
  const wrong = ofLanguage("usage").flatMap((block) =>
    block.code
      .replaceAll(/\n {2,}/g, " ")
      .trim()
      .split("\n")
      .flatMap((line) => line.split(/ {2,}/)[0]?.split(", ") ?? [])
      .flatMap((line) => mistakesIn(program, line).map((mistake) => `${block.page}: ${line}: ${mistake}`)),
  );
  expect(wrong).toEqual([]);
});

/** `emend job get [PROJECT] ID [--wait]`, `emend key create|list`. */
function mistakesIn(program: Command, line: string): string[] {
  const [name, ...words] = line.split(" ");
  if (name !== "emend") return ["does not begin with emend"];
  let found = [program];
  while (words[0] && /^[a-z|-]+$/.test(words[0]) && found[0]?.commands.length) {
    const names = (words.shift() ?? "").split("|");
    const next = names.map((one) => found[0]?.commands.find((command) => command.name() === one));
    if (next.includes(undefined)) return [`there is no command ${names[next.indexOf(undefined)]}`];
    found = next as Command[];
  }
  const rest = words.join(" ");
  const flags = rest.match(/(?<![\w-])--[a-z-]+/g) ?? [];
  const given = rest
    .replaceAll(/\[--(?:[^[\]]|\[[^[\]]*\])*\]/g, "")
    .replaceAll(/--[a-z-]+( [A-Za-z|…]+(?:-[a-z]+)*(\[[^\]]*\])?)?/g, "")
    .trim();
  return found.flatMap((command) => {
    const known = command.options.map(({ long }) => long);
    const unknown = flags.filter((flag) => !known.includes(flag)).map((flag) => `there is no option ${flag}`);
    // An overview lists command names only.
    if (given === "" && flags.length === 0) return unknown;
    const usage = command.usage().replace("[options] ", "").replace("[command]", "").replaceAll("...", "").trim();
    const wanted = usage === "[options]" ? "" : usage;
    const shape = (text: string) =>
      (text.match(/\[[^\]]+\]|<[^>]+>|\S+/g) ?? [])
        .filter((word) => word !== "[options]")
        .map((word) => word.startsWith("["));
    const isSame = JSON.stringify(shape(given.replaceAll("…", ""))) === JSON.stringify(shape(wanted));
    return isSame ? unknown : [...unknown, `takes ${wanted || "no argument"}, not ${given || "none"}`];
  });
}

let emend: Installation;
let dir: string;
let env: Record<string, string>;
beforeAll(async () => {
  emend = await startInstallation();
  // Side by side, as in the samples: the working folder and a docs folder.
  dir = join(emend.dir, "work");
  await cp(join(emend.dir, "docs"), join(emend.dir, "my-docs"), { recursive: true });
  await cp(join(emend.dir, "docs"), join(dir, "docs"), { recursive: true });
  await symlink(join(root, "node_modules"), join(dir, "node_modules"));
  await writeProgram(join(dir, "bin"));
  await writeFile(join(dir, "login.png"), makePng());
  const identity = { GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.com" };
  env = {
    ...(nodeEnvironment as Record<string, string>),
    ...identity,
    GIT_COMMITTER_NAME: identity.GIT_AUTHOR_NAME,
    GIT_COMMITTER_EMAIL: identity.GIT_AUTHOR_EMAIL,
    PATH: `${join(dir, "bin")}:${process.env.PATH}`,
    HOME: dir,
    EMEND_DATA_DIR: emend.dataDir,
    EMEND_LOG_LEVEL: "silent",
    EMEND_PROJECT: emend.project,
    TEAM_ANTHROPIC_KEY: "sk-ant-of-the-team",
    NOTION_TOKEN: "a-token-of-notion",
    ...emend.env,
    project: emend.project,
    KEY: emend.key,
  };
  await promisify(execFile)("bash", ["-c", "git init -q && git add docs && git commit -qm docs"], { cwd: dir, env });
  const { id } = await new Emend({ baseUrl: emend.url, apiKey: emend.key })
    .jobs(emend.project)
    .create({ prompt: 'Replace "nowhere to be found" with "anything".' })
    .wait();
  env.JOB = id;
});
afterAll(() => emend.stop());

/** Replaces the samples' address with that of the test's server. */
const addressed = (code: string) =>
  code.replaceAll(/(http:\/\/)?(127\.0\.0\.1|localhost):4600/g, (_, scheme) =>
    scheme ? emend.url : new URL(emend.url).host,
  );

/** The pages with commands, in order, each with what its commands need beyond the shell, node and git. */
const shellPages = Map.groupBy(ofLanguage("sh"), ({ page }) => page);
const missingFor = (page: string) =>
  ["curl", "openssl"].filter(
    (name) => !hasProgram(name) && shellPages.get(page)?.some(({ code }) => new RegExp(`\\b${name}\\b`).test(code)),
  );

/** Runs them in page order, in one shell. `set -e` stops at the first failure. */
async function runShell(page: string): Promise<string> {
  const codes = (shellPages.get(page) ?? []).map(({ code }) => addressed(code));
  const scripts = codes.map((code) => (code.startsWith("#!") ? `bash <<'SCRIPT'\n${code}SCRIPT\n` : code));
  const script = `${scripts.join("\n")}\nenv | grep ^EMEND_ > "$HOME/environment"\n`;
  const running = promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { cwd: dir, env });
  // Every prompt for a key gets one.
  running.child.stdin?.on("error", () => {}).end(emend.key);
  return (await running.catch((error) => Promise.reject(new Error(`${error.message}\n${error.stdout}`)))).stdout;
}

const told: Readonly<Record<string, readonly RegExp[]>> = {
  "README.md": [/^\{"id":"job_\w+","status":"active"/, /"status":"completed"/, /"phase":/],
  "docs/automations.md": [/\{"status":"recorded"\}/],
  "docs/directory.md": [/"userName":"ada@acme.com"/, /"totalResults":1/],
  "docs/integrate.md": [/"status":"completed"/, /"nextCursor":null/, /^diff --git /m, /^event: completed$/m],
  "docs/local-forge.md": [/http:\S+\/pull\/1\nsaved\n$/],
  "docs/migrating.md": [/"status":"active"/],
  "docs/quickstart.md": [/^prj_\w+\nemend_\w+\n/, /http:\S+\/pull\/\d+\n$/],
};

for (const page of shellPages.keys()) {
  const missing = missingFor(page);
  const needs = missing.map((name) => ` (needs ${name})`).join("");
  test.skipIf(missing.length > 0)(`the commands of ${page} run as they stand${needs}`, async () => {
    const printed = await runShell(page);
    // curl exits with 0 for every HTTP status.
    expect(printed).not.toContain('{"error":');
    for (const pattern of told[page] ?? []) expect(printed).toMatch(pattern);
    const set = (await readFile(join(dir, "environment"), "utf8")).trim().split("\n");
    const { problems } = readConfig(Object.fromEntries(set.map((line) => line.split(/=(.*)/s) as [string, string])));
    expect(problems, "the settings that the page exports").toEqual([]);
  });
}

/** What a sample assumes, as the text around it says. */
const given: Readonly<Record<string, string>> = {
  apiKey: "const apiKey = process.env.EMEND_API_KEY ?? '';",
  projectId: "const projectId = process.env.PROJECT ?? '';",
  id: "const id = process.env.JOB ?? '';",
  jobs: `const { Emend: GivenEmend } = await import("@emend/sdk"); const jobs = new GivenEmend().jobs(process.env.PROJECT ?? "");`,
};

/** Imports every sample in turn. A webhook receiver gets one signed and one unsigned message. */
const runner = `
import { Webhook } from "standardwebhooks";
const secret = process.env.EMEND_WEBHOOK_SECRET;
const body = JSON.stringify({ type: "webhook.test", timestamp: new Date().toISOString(), data: { projectId: "prj_1" } });
const at = new Date();
const headers = (id) => ({ "webhook-id": "msg_1", "webhook-timestamp": String(Math.floor(at / 1000)), "webhook-signature": new Webhook(secret).sign(id, at, body) });
const post = (id) => ({ method: "POST", headers: headers(id), body });
for (const file of process.argv.slice(2)) {
  const sample = await import(file).catch((cause) => Promise.reject(new Error(file, { cause })));
  const statuses = [];
  if (sample.receive) for (const id of ["msg_1", "msg_2"]) statuses.push((await sample.receive(new Request("http://x.test/", post(id)))).status);
  if (sample.server) {
    if (!sample.server.listening) await new Promise((resolve) => sample.server.once("listening", resolve));
    for (const id of ["msg_1", "msg_2"]) statuses.push((await fetch("http://127.0.0.1:" + sample.server.address().port, post(id))).status);
    sample.server.close();
    sample.server.closeAllConnections();
  }
  if (statuses.length) console.log("webhook", statuses.join(" "));
}`;

test("the samples for TypeScript and JavaScript run unchanged", async () => {
  const samples = ofLanguage("js", "ts");
  const files = await Promise.all(
    samples.map(async ({ code, language }, index) => {
      const file = join(dir, `sample-${index}.${language === "ts" ? "mts" : "mjs"}`);
      const missing = Object.entries(given).filter(
        ([name]) => new RegExp(`\\b${name}\\b`).test(code) && !new RegExp(`(const|let) (\\{ )?${name}\\b`).test(code),
      );
      await writeFile(file, `${missing.map(([, line]) => line).join("\n")}\n${addressed(code)}`);
      return file;
    }),
  );
  await writeFile(join(dir, "run-samples.mjs"), runner);
  const secret = `whsec_${Buffer.from("a secret of the tests").toString("base64")}`;
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ["--disable-warning=ExperimentalWarning", join(dir, "run-samples.mjs"), ...files],
    { cwd: dir, env: { ...env, EMEND_WEBHOOK_SECRET: secret, PORT: "0" } },
  );
  expect(stdout.match(/^webhook 204 400$/gm)).toHaveLength(3);
  expect(stdout).toMatch(/^completed http/m);
});
