import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { trySandbox } from "@emend/runners";
import { startBound } from "@emend/tree";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type CheckOptions, runCheck } from "./run-check.ts";

const trial = await trySandbox(startBound, process.env.PATH ?? "");

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-trust-"));
});
afterEach(() => rm(dir, { recursive: true }));

async function check(options: CheckOptions, path = process.env.PATH): Promise<{ said: string; result: Result }> {
  let said = "";
  let printed = "";
  const stream = (add: (text: string) => void) => ({ write: add }) as unknown as NodeJS.WriteStream;
  const cli = {
    env: { PATH: path, XDG_CACHE_HOME: join(dir, ".cache") },
    stdin: process.stdin,
    stdout: stream((text) => {
      printed += text;
    }),
    stderr: stream((text) => {
      said += text;
    }),
    signal: new AbortController().signal,
  };
  await runCheck(cli, dir, { json: true, cache: false, ...options });
  return { said, result: JSON.parse(printed) };
}

interface Result {
  evaluated?: string | null;
  findings: { check: string; path: string; message: string; certainty: string }[];
}

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(dir, name)), { recursive: true });
    await writeFile(join(dir, name), text);
  }
}

const computed = {
  "docusaurus.config.js": `
    const pairs = require("./redirects.json");
    module.exports = {
      baseUrl: require("./base.js"),
      presets: [["classic", { docs: { routeBasePath: ["gui", "des"].join("") } }]],
      plugins: [["@docusaurus/plugin-client-redirects", { redirects: pairs }]],
    };`,
  "base.js": 'module.exports = "/app/";',
  "redirects.json": '[{ "from": "/old", "to": "/guides/start" }]',
  "docs/start.md": "# Start\n\n[other](/guides/other) and [gone](/guides/gone)\n",
  "docs/other.md": "# Other\n",
};

it.skipIf(trial.kind !== "usable")("judges links by the configuration's values (needs bubblewrap)", async () => {
  await write(computed);
  const before = await check({});
  expect(before.result).not.toHaveProperty("evaluated");
  const after = await check({ trust: true });
  expect(after.said).toContain("--trust: ran docusaurus.config.js in the sandbox.");
  expect(after.result.evaluated).toBe("docusaurus.config.js");
  const broken = ({ findings }: Result) => findings.filter(({ check }) => check === "broken-link");
  expect(broken(before.result).map(({ certainty }) => certainty)).not.toContain("certain");
  expect(broken(after.result)).toEqual([
    expect.objectContaining({ certainty: "certain", message: expect.stringContaining("/guides/gone") }),
  ]);
});

it.skipIf(trial.kind !== "usable")(
  "reads the text of a configuration that cannot be run (needs bubblewrap)",
  async () => {
    await write({ ...computed, "base.js": 'module.exports = require("not-installed");' });
    const { said, result } = await check({ trust: true });
    expect(said).toContain("docusaurus.config.js could not be run: Cannot find module 'not-installed'");
    expect(said).toContain("The check read it as text, and what it computes is unknown.");
    expect(result.evaluated).toBeNull();
    expect(result.findings).toEqual((await check({})).result.findings);
  },
);

it("runs nothing without a sandbox, and says so", async () => {
  await write({ ...computed, "base.js": `require("node:fs").writeFileSync(${JSON.stringify("ran.txt")}, "")` });
  const { said, result } = await check({ trust: true }, "");
  expect(said).toContain("configurations are run only in a sandbox, and bubblewrap (bwrap) is not installed");
  expect(result.evaluated).toBeNull();
  expect(result.findings).toEqual((await check({})).result.findings);
});

it.skipIf(trial.kind !== "usable")("says that a framework has no program to run (needs bubblewrap)", async () => {
  await write({ "mint.json": '{ "navigation": [{ "group": "A", "pages": ["a"] }] }', "a.mdx": "# A\n" });
  expect((await check({ trust: true })).said).toContain("the configuration of mintlify is not a program");
});
