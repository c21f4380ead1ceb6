// Costly: the built package is what people install; a checkout hides what it lacks.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { runInNewContext } from "node:vm";
import { freePort } from "@emend/testkit/listen.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildPackage } from "../../../scripts/build.ts";
import { makeTempDir, removeDir } from "./support/temp-dir.ts";

const run = promisify(execFile);
const root = join(import.meta.dirname, "..", "..", "..");

let dir: string;
let program: string;
let installed: string;
let manifest: {
  name: string;
  bin: object;
  dependencies: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  publishConfig: object;
};
// Packed and installed into a prefix, as in docs/deploy.md. Third-party packages are linked from this checkout instead of
// downloaded: `npm run test:package` installs those too.
beforeAll(async () => {
  dir = await makeTempDir();
  const built = join(dir, "built");
  await buildPackage(built);
  manifest = JSON.parse(await readFile(join(built, "package.json"), "utf8"));
  await writeFile(
    join(built, "package.json"),
    JSON.stringify({ ...manifest, dependencies: {}, optionalDependencies: {} }),
  );
  await run("npm", ["pack", "--silent", "--pack-destination", dir, built], { cwd: dir });
  const [tarball = ""] = (await readdir(dir)).filter((name) => name.endsWith(".tgz"));
  expect(tarball).toBe("emend-cli-0.1.0.tgz");
  const prefix = join(dir, "prefix");
  const env = { PATH: process.env.PATH, HOME: dir };
  await run("npm", ["install", "--global", "--offline", "--prefix", prefix, join(dir, tarball)], { cwd: dir, env });
  installed = join(prefix, "lib", "node_modules", "@emend", "cli");
  const { dependencies, optionalDependencies = {} } = manifest;
  await Promise.all(Object.keys({ ...dependencies, ...optionalDependencies }).map(linkDependency));
  program = join(prefix, "bin", "emend");
});
afterAll(() => removeDir(dir));

/** Only what the package names, in the version that it names: a workspace may have another one than the checkout's root. */
async function linkDependency(name: string): Promise<void> {
  const places = [join(root, "packages/server/node_modules", name), join(root, "node_modules", name)];
  const place = places.find((path) => existsSync(path));
  // Of another platform.
  if (place === undefined) return;
  const link = join(installed, "node_modules", name);
  await mkdir(dirname(link), { recursive: true });
  await symlink(place, link);
}

test("the packed program runs the whole journey", async () => {
  const env = { PATH: process.env.PATH, HOME: dir, TMPDIR: dir };
  expect((await run(process.execPath, [program, "--version"], { env })).stdout).toMatch(
    /^0\.1\.0 \(commit [0-9a-f]{12}, schema \d{4}-[\w-]+\)\n$/,
  );
  const { stdout, stderr } = await run(process.execPath, [program, "demo", "--json", "--data", join(dir, "data")], {
    env,
  });
  expect(JSON.parse(stdout)).toMatchObject({ status: "completed", prLink: expect.any(String) });
  expect(stderr).toBe("");
}, 120_000);

test("the packed program serves an editor", async () => {
  const child = execFile(process.execPath, [program, "lsp"]);
  const body = (message: object) => {
    const text = JSON.stringify({ jsonrpc: "2.0", ...message });
    return `Content-Length: ${text.length}\r\n\r\n${text}`;
  };
  child.stdin?.write(
    body({ id: 1, method: "initialize", params: { processId: null, rootUri: null, capabilities: {} } }),
  );
  let answer = "";
  child.stdout?.on("data", (text) => {
    answer += text;
  });
  while (!answer.includes('"definitionProvider":true')) await once(child.stdout as Readable, "data");
  child.stdin?.write(body({ id: 2, method: "shutdown" }) + body({ method: "exit" }));
  expect(await once(child, "close")).toEqual([0, null]);
});

test("the packed program checks a folder, and answers agents on its standard streams and over HTTP", async () => {
  const docs = join(dir, "docs");
  await mkdir(docs);
  await writeFile(join(docs, "index.md"), "# Docs\n\n[gone](missing.md)\n");
  const env = { PATH: process.env.PATH, HOME: dir, TMPDIR: dir };
  const checked = await run(process.execPath, [program, "check", docs], { env }).catch((error) => error);
  expect(checked.stdout).toContain("missing.md");

  const initialize = {
    jsonrpc: "2.0",
    id: 1,
    method: "initialize",
    params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  };
  const port = await freePort();
  const data = { ...env, EMEND_DATA_DIR: join(dir, "served"), EMEND_PORT: String(port) };
  const server = execFile(process.execPath, [program, "serve"], { env: data });
  try {
    const url = `http://127.0.0.1:${port}`;
    let said = "";
    server.stdout?.on("data", (text) => {
      said += text;
    });
    while (!said.includes(url)) await once(server.stdout as Readable, "data");
    const added = await run(
      process.execPath,
      [program, "project", "add", "Docs", "--forge", "local", "--repo", docs, "--json"],
      { env: data },
    );
    const { id } = JSON.parse(added.stdout);
    const made = await run(process.execPath, [program, "key", "create", "--project", id, "--json"], { env: data });
    const { key } = JSON.parse(made.stdout);
    const answer = await fetch(`${url}/mcp`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(initialize),
    });
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("serverInfo")]);

    const local = execFile(process.execPath, [program, "mcp"], { env: { ...env, EMEND_URL: url, EMEND_API_KEY: key } });
    local.stdin?.write(`${JSON.stringify(initialize)}\n`);
    const [line] = await once(local.stdout as Readable, "data");
    expect(JSON.parse(String(line))).toMatchObject({ id: 1, result: { serverInfo: { name: "emend" } } });
    local.stdin?.end();
    await once(local, "close");
  } finally {
    server.kill();
    await once(server, "close");
  }
}, 120_000);

test("contains only compiled code, without workspace imports", async () => {
  const files = (await readdir(installed, { recursive: true })).filter((name) => !name.includes("node_modules"));
  expect(files.filter((name) => name.endsWith(".ts") || name.includes(".test."))).toEqual([]);
  expect(files, "the schema that editors read").toContain("check.schema.json");
  expect(files, "the dashboard that it serves").toContain(join("packages", "dashboard", "dist", "index.html"));
  // The dashboard is bundled, and has the text of the docs with their samples.
  for (const name of files.filter((one) => one.endsWith(".js") && !one.includes(join("dashboard", "dist")))) {
    const text = await readFile(join(installed, name), "utf8");
    expect(text, name).not.toMatch(/(from|import\()\s*"(@emend\/|\.{1,2}\/[^"]*\.ts")/);
  }
  expect(manifest).toMatchObject({ name: "@emend/cli", bin: { emend: "bin/emend.cjs" } });
  expect(manifest.publishConfig).toEqual({ access: "public" });
  expect(Object.keys(manifest.dependencies).filter((name) => name.startsWith("@emend/"))).toEqual([]);
  expect(Object.values(manifest.dependencies).filter((version) => !/^\d/.test(String(version)))).toEqual([]);
});

test("refuses an old Node in one line", async () => {
  const text = await readFile(program, "utf8");
  const said: string[] = [];
  const exit = (code: number) => {
    throw new Error(`exit ${code}`);
  };
  const old = { versions: { node: "20.19.0" }, version: "v20.19.0", exit };
  const start = () =>
    runInNewContext(text.replace(/^#!.*/, ""), { process: old, console: { error: (line: string) => said.push(line) } });
  expect(start).toThrow("exit 1");
  expect(said).toEqual(["emend needs Node 22.18 or newer and this is v20.19.0; see https://nodejs.org"]);
});
