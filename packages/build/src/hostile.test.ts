// Costly: the kernel refuses what a hostile build tries; a stand-in for it would refuse whatever we wrote.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Fetch } from "@emend/base/network.ts";
import { trySandbox } from "@emend/runners";
import { listProcesses } from "@emend/testkit/processes.ts";
import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { startBound } from "@emend/tree";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { findLock, preparePackages } from "./prepare.ts";
import { runBuild } from "./run-build.ts";

vi.setConfig({ testTimeout: 120_000 });

// A plugin of the base branch is code that somebody merged. It runs here with all that a build gives it.
const trial = await trySandbox(startBound, process.env.PATH ?? "");
const attack = it.skipIf(trial.kind !== "usable");
const signal = new AbortController().signal;
const secret = "hostile-test-secret-of-the-server";
const limits = { timeoutMs: 60_000, memoryBytesMax: 512 * 2 ** 20, processesMax: 30, diskBytesMax: 32 * 2 ** 20 };

let trees: TestTrees;
let dir: string;
const servers: Server[] = [];
beforeAll(async () => {
  trees = await openTestTrees();
});
afterAll(() => trees.close());
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), "emend-hostile-"));
  await mkdir(join(dir, "tmp"));
  process.env.HOSTILE_TEST_SECRET = secret;
});
afterEach(async () => {
  delete process.env.HOSTILE_TEST_SECRET;
  for (const server of servers.splice(0)) server.close();
  await rm(dir, { recursive: true, force: true });
});

/** A word in the command lines of the build's processes. */
const mark = `hostile-${process.pid}-${Math.trunc(performance.timeOrigin)}`;
const isLeft = () => listProcesses().some((one) => JSON.stringify(one).includes(mark));

/** With a folder of its own for temporary files, which must be empty afterwards. */
async function inOwnFolder<T>(work: () => Promise<T>): Promise<T> {
  const before = process.env.TMPDIR;
  process.env.TMPDIR = join(dir, "tmp");
  try {
    return await work();
  } finally {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    expect(await readdir(join(dir, "tmp"))).toEqual([]);
  }
}

async function build(script: string, own: Partial<typeof limits> = {}) {
  if (trial.kind !== "usable") throw new Error(trial.words);
  const tree = await trees.open({ "plugin.mjs": script, "docs/index.md": "# Home\n" });
  const command = ["node", "plugin.mjs", mark];
  const plan = { name: "the builder", folder: "", command, site: null, mounts: [], packageFolders: [], key: "" };
  const deps = { start: startBound, sandbox: trial, limits: { ...limits, ...own } };
  const end = await inOwnFolder(() => runBuild(deps, { tree, plan, siteFile: join(dir, "site") }, signal));
  // In any case nothing is left. What held the sandbox from outside ends a moment after it.
  await expect.poll(isLeft, { timeout: 2_000 }).toBe(false);
  return end;
}

attack("reads the environment, and the memory of its parents: no secret is there (needs bubblewrap)", async () => {
  const end = await build(`
    import { readdirSync, readFileSync } from "node:fs";
    const ofShells = ["PWD", "OLDPWD", "SHLVL", "_"];
    console.log(Object.keys(process.env).filter((name) => !ofShells.includes(name)).sort().join(" "));
    for (const pid of readdirSync("/proc").filter((name) => /^\\d+$/.test(name)))
      for (const file of ["environ", "cmdline", "mountinfo"])
        try { console.log(readFileSync("/proc/" + pid + "/" + file, "utf8")); } catch {}
    for (const path of ["/etc/shadow", "/etc/hostname", "/root", "/home"])
      try { console.log("HOST " + path + readdirSync(path)); } catch {}
  `);
  if (end.kind !== "ended") throw new Error(end.words);
  expect(end.code).toBe(0);
  expect(end.output.split("\n")[0]).toBe(
    "ASTRO_TELEMETRY_DISABLED CI GOCACHE HOME JEKYLL_ENV LANG NEXT_TELEMETRY_DISABLED NODE_ENV NO_COLOR PATH TERM TMPDIR",
  );
  expect(end.output).not.toContain(secret);
  expect(end.output).not.toContain("HOST ");
});

attack(
  "opens sockets: neither the server's loopback nor its abstract sockets are there (needs bubblewrap)",
  async () => {
    let connections = 0;
    const listen = async (at: object) => {
      const server = createServer(() => {
        connections += 1;
      });
      servers.push(server);
      server.listen(at);
      await once(server, "listening");
      return server.address();
    };
    const tcp = (await listen({ port: 0, host: "127.0.0.1" })) as { port: number };
    await listen({ path: `\0${mark}` });
    const end = await build(`
    import { connect } from "node:net";
    import { networkInterfaces } from "node:os";
    import { lookup } from "node:dns/promises";
    const reach = (at) => new Promise((done) => connect(at).on("connect", () => done("REACHED")).on("error", (e) => done(e.code)));
    console.log(await reach({ port: ${tcp.port}, host: "127.0.0.1" }), await reach({ path: "\\0${mark}" }));
    console.log(await lookup("registry.npmjs.org").then(() => "REACHED", (e) => e.code));
    console.log(Object.keys(networkInterfaces()).filter((name) => name !== "lo").length);
  `);
    if (end.kind !== "ended") throw new Error(end.words);
    expect(end.output).not.toContain("REACHED");
    expect(end.output.trim().split("\n").at(-1)).toBe("0");
    expect(connections).toBe(0);
  },
);

attack("forks more than it may: all are killed (needs bubblewrap)", async () => {
  const end = await build(
    `
    import { spawn } from "node:child_process";
    for (let n = 0; n < 60; n += 1) spawn("sh", ["-c", "trap '' TERM; while :; do sleep 1000; done", "${mark}"], { detached: true });
    setInterval(() => {}, 1000);
  `,
    { memoryBytesMax: 2 ** 31 },
  );
  expect(end).toMatchObject({
    kind: "stopped",
    words: expect.stringMatching(/used \d+ processes, more than is allowed/),
  });
});

attack("takes more memory than it may: it is killed (needs bubblewrap)", async () => {
  const end = await build(`
    const held = [];
    setInterval(() => held.push(Buffer.alloc(32 * 2 ** 20, 1)), 50);
  `);
  expect(end).toMatchObject({ kind: "stopped", words: expect.stringMatching(/used \d+ MiB of memory/) });
});

attack("fills the disk: only its own part of memory is full (needs bubblewrap)", async () => {
  const end = await build(`
    import { writeFileSync } from "node:fs";
    for (const folder of [".", process.env.HOME, "/dev/shm"])
      try { for (let n = 0; n < 1000; n += 1) writeFileSync(folder + "/big" + n, Buffer.alloc(2 ** 20)); console.log("NO END"); }
      catch (error) { console.log(error.code); }
  `);
  expect(end).toEqual({ kind: "ended", code: 0, output: "ENOSPC\nENOSPC\nENOSPC\n" });
});

attack("a repository above the limit is not built, with a clear line (needs bubblewrap)", async () => {
  const end = await build(`// ${"x".repeat(3 * 2 ** 20)}`, { diskBytesMax: 2 ** 20 });
  expect(end).toEqual({ kind: "stopped", words: "the repository has more than the 1 MiB that a build may use" });
});

attack("ignores SIGTERM and hangs: it is killed with its children (needs bubblewrap)", async () => {
  const end = await build(
    `
    import { spawn } from "node:child_process";
    for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(name, () => {});
    spawn("sh", ["-c", "trap '' TERM; while :; do sleep 1000; done", "${mark}"], { detached: true, stdio: "ignore" }).unref();
    setInterval(() => {}, 1000);
  `,
    { timeoutMs: 3_000 },
  );
  expect(end).toEqual({ kind: "stopped", words: "the builder did not end within 3 s" });
});

attack("leaves a process behind: it ends with the build (needs bubblewrap)", async () => {
  const end = await build(`
    import { spawn } from "node:child_process";
    spawn("sh", ["-c", "trap '' TERM; while :; do sleep 1000; done", "${mark}"], { detached: true, stdio: "ignore" }).unref();
  `);
  expect(end).toMatchObject({ kind: "ended", code: 0 });
});

attack("writes outside of its work tree: everything else is read-only (needs bubblewrap)", async () => {
  const end = await build(`
    import { writeFileSync, chmodSync } from "node:fs";
    const places = ["/", "/usr/", "/usr/bin/", "/etc/", "/run/emend/", "/run/emend/bin/", "/dev/", "../", "../../../", "/proc/sys/kernel/", "/sys/", ${JSON.stringify(`${"/tmp/"}../`)}];
    for (const place of places) try { writeFileSync(place + "emend-was-here", "x"); console.log("WROTE " + place); } catch {}
    for (const file of [process.execPath, "/run/emend/unpack.mts", "/etc/passwd"])
      try { chmodSync(file, 0o777); console.log("CHANGED " + file); } catch {}
  `);
  expect(end).toEqual({ kind: "ended", code: 0, output: "" });
});

attack("leaves links, pipes and devices: ten builds leave no file, mount or process (needs bubblewrap)", async () => {
  for (let times = 0; times < 10; times += 1) {
    const end = await build(`
      import { execFileSync } from "node:child_process";
      import { linkSync, symlinkSync } from "node:fs";
      symlinkSync("/etc/passwd", "docs/passwd.md");
      symlinkSync("/", "out");
      execFileSync("mkfifo", ["docs/pipe.md"]);
      try { execFileSync("mknod", ["disk", "b", "8", "0"], { stdio: "ignore" }); console.log("MADE A DEVICE"); } catch {}
      try { linkSync("/usr/bin/env", "env"); console.log("LINKED"); } catch {}
    `);
    expect(end).toEqual({ kind: "ended", code: 0, output: "" });
  }
  expect(await readFile("/proc/self/mountinfo", "utf8")).not.toContain(dir);
});

attack("prints a gigabyte: the start is kept and the rest dropped (needs bubblewrap)", async () => {
  const end = await build(
    `
    import { spawn } from "node:child_process";
    spawn("head", ["-c", "1073741824", "/dev/zero"], { stdio: "inherit" });
  `,
    { timeoutMs: 110_000 },
  );
  if (end.kind !== "ended") throw new Error(end.words);
  expect(end.output.length).toBe(8 * 2 ** 20);
});

/** Installs from a registry with one package, whose scripts would leave a file. */
async function prepare(resolved: string, withScripts: boolean) {
  if (trial.kind !== "usable") throw new Error(trial.words);
  await mkdir(join(dir, "package"));
  const scripts = { postinstall: "node -e \"require('fs').writeFileSync('ran','')\"" };
  const manifest = { name: "tiny", version: "1.0.0", bin: { tiny: "tiny.js" }, scripts };
  await writeFile(join(dir, "package/package.json"), JSON.stringify(manifest));
  await writeFile(join(dir, "package/tiny.js"), "#!/usr/bin/env node\nconsole.log('tiny');\n");
  execFileSync("tar", ["-czf", join(dir, "tiny.tgz"), "-C", dir, "package"]);
  const tarball = await readFile(join(dir, "tiny.tgz"));
  const asked: string[] = [];
  const fetch: Fetch = async (url) => {
    asked.push(url);
    const headers = new Headers({ "content-type": "application/octet-stream" });
    if (!url.endsWith("/tiny-1.0.0.tgz")) return { status: 404, headers, body: null };
    return {
      status: 200,
      headers,
      body: (async function* () {
        yield tarball;
      })(),
    };
  };
  const lock = {
    name: "docs",
    lockfileVersion: 3,
    packages: {
      "": { name: "docs", dependencies: { tiny: "1.0.0" } },
      "node_modules/tiny": { version: "1.0.0", resolved, bin: { tiny: "tiny.js" }, hasInstallScript: true },
    },
  };
  const tree = await trees.open({
    "package.json": JSON.stringify({ name: "docs", dependencies: { tiny: "1.0.0" } }),
    "package-lock.json": JSON.stringify(lock),
    ".npmrc": "registry=http://127.0.0.1:9/\n//127.0.0.1:9/:_authToken=abc\n",
  });
  const found = await findLock(tree, "");
  if (found === null || "words" in found) throw new Error("no lock file");
  const path = process.env.PATH ?? "";
  const registry = "https://registry.npmjs.org/";
  const deps = {
    start: startBound,
    sandbox: trial,
    fetch,
    registry,
    limits: { ...limits, memoryBytesMax: 2 ** 30 },
    path,
  };
  const answer = await inOwnFolder(() =>
    preparePackages({ ...deps, dir: join(dir, "kept") }, { tree, lock: found, withScripts }, signal),
  );
  return { answer, asked };
}

attack("packages come from the registry alone, and their scripts do not run (needs bubblewrap)", async () => {
  const { answer, asked } = await prepare("https://registry.npmjs.org/tiny/-/tiny-1.0.0.tgz", false);
  if (answer.kind !== "prepared") throw new Error(answer.words);
  expect(asked).toEqual(["https://registry.npmjs.org/tiny/-/tiny-1.0.0.tgz"]);
  const { prepared } = answer;
  expect([prepared.folders, [...prepared.programs]]).toEqual([["node_modules"], ["tiny"]]);
  expect(await readFile(join(dir, "kept", prepared.key, "work/.npmrc"), "utf8")).toBe("");
  const installed = join(dir, "kept", prepared.key, "work/node_modules/tiny");
  expect((await readdir(installed)).sort()).toEqual(["package.json", "tiny.js"]);
});

attack("install scripts run where an owner allows them (needs bubblewrap)", async () => {
  const { answer } = await prepare("https://registry.npmjs.org/tiny/-/tiny-1.0.0.tgz", true);
  if (answer.kind !== "prepared") throw new Error(answer.words);
  expect(await readdir(join(dir, "kept", answer.prepared.key, "work/node_modules/tiny"))).toContain("ran");
});

attack("a lock file that points to a private address leads nowhere (needs bubblewrap)", async () => {
  let connections = 0;
  const server = createServer(() => {
    connections += 1;
  });
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  const { answer, asked } = await prepare(`http://127.0.0.1:${port}/tiny-1.0.0.tgz`, false);
  expect(answer).toMatchObject({ kind: "failed", words: expect.stringContaining("npm ended with code 1") });
  expect([asked, connections]).toEqual([[], 0]);
});
