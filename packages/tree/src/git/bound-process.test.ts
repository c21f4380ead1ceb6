// Costly: it is about children whose parent is killed.
import { fork, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createReadStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { hasProc } from "@emend/testkit/processes.ts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { lockProgram } from "../mirror/mirror-context.ts";
import { openLock, startBound } from "./bound-process.ts";

const env = { PATH: process.env.PATH ?? "" };
let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "emend-bound-"));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

/** A named pipe: its reader gets end-of-file when the last process that has it open exits. */
function makeFifo(name: string) {
  const path = join(dir, name);
  spawnSync("/bin/sh", ["-c", `mkfifo "$0"`, path]);
  const reader = createReadStream(path).resume();
  return { path, allGone: once(reader, "end") };
}

function starterOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  return children.find((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("process-starter")) ?? 0;
}

/** Ignores SIGTERM and has a child. Both hold the pipe open. */
const stubborn = "trap '' TERM; exec 7>\"$1\"; sleep 600 & echo up; wait";

test("a child and its own children die when this process is killed", async () => {
  const fifo = makeFifo("orphans");
  const program = `
    import { startBound } from ${JSON.stringify(join(import.meta.dirname, "bound-process.ts"))};
    const args = ["-c", ${JSON.stringify(stubborn)}, "sh", ${JSON.stringify(fifo.path)}];
    startBound({ program: "sh", args, env: process.env }).stdout.pipe(process.stdout);`;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(parent.stdout, "data");
  parent.kill("SIGKILL");
  await fifo.allGone;
});

test("a group that ignores the request to stop is killed", async () => {
  const fifo = makeFifo("stubborn");
  const child = startBound({ program: "sh", args: ["-c", stubborn, "sh", fifo.path], env });
  await once(child.stdout, "data");
  child.stop();
  child.stderr.resume();
  expect((await child.ended).signal).toBe("SIGKILL");
  await fifo.allGone;
});

test("nothing of the group outlives its leader", async () => {
  const fifo = makeFifo("stragglers");
  const script = 'exec 7>"$1"; sleep 600 >/dev/null 2>&1 & exit 3';
  const child = startBound({ program: "sh", args: ["-c", script, "sh", fifo.path], env });
  child.stdout.resume();
  child.stderr.resume();
  expect((await child.ended).code).toBe(3);
  await fifo.allGone;
});

test("the child sees its environment, its descriptors and nothing else of ours", async () => {
  const path = join(dir, "held");
  const lock = await openLock(path, ["true"], env);
  const script = "env | sort; echo from child >&4; if (: >&3) 2>/dev/null; then echo lifeline; fi";
  const child = startBound({
    program: "sh",
    args: ["-c", script],
    env: { ...env, ONE: "1" },
    locks: [lock.id],
  });
  child.stderr.resume();
  const output = Buffer.concat(await child.stdout.toArray()).toString();
  await child.ended;
  lock.close();
  const names = output
    .trim()
    .split("\n")
    .map((line) => line.split("=")[0]);
  const ofTheSystem = ["PWD", "_", "SHLVL", "__CF_USER_TEXT_ENCODING"];
  expect(names.filter((name = "") => !ofTheSystem.includes(name))).toEqual(["ONE", "PATH"]);
  expect(readFileSync(path, "utf8")).toBe("from child\n");
});

test.skipIf(!hasProc())("nothing that its parent left open reaches a child, also above a gap (Linux)", async () => {
  const program = `
    import { startBound } from ${JSON.stringify(join(import.meta.dirname, "bound-process.ts"))};
    const child = startBound({ program: "ls", args: ["-1", "/proc/self/fd"], env: process.env });
    child.stdout.pipe(process.stdout);`;
  const node = [process.execPath, "--input-type=module", "-e", program];
  const opened = spawnSync("bash", ["-c", 'exec 40</etc/hostname 41</etc/hostname; exec "$@"', "bash", ...node]);
  expect(opened.stdout.toString().split("\n").map(Number)).not.toContain(40);
});

test.skipIf(!hasProc())(
  "a start ends when it is stopped, while the process starter stands still, and nothing is left running (Linux)",
  async () => {
    const fifo = makeFifo("frozen");
    await startBound({ program: "true", args: [], env }).ended;
    const starter = starterOf(process.pid);
    process.kill(starter, "SIGSTOP");
    try {
      const child = startBound({ program: "sh", args: ["-c", stubborn, "sh", fifo.path], env });
      child.stop();
      await expect(child.ended).rejects.toMatchObject({ code: "unavailable", retryable: true });
    } finally {
      process.kill(starter, "SIGCONT");
    }
    // It answers again.
    expect((await startBound({ program: "true", args: [], env }).ended).code).toBe(0);
    writeFileSync(fifo.path, "");
    await fifo.allGone;
  },
);

test("no file grows past the cap", async () => {
  const path = join(dir, "large");
  const args = ["-c", 'exec head -c 1000000 /dev/zero > "$1"', "sh", path];
  const child = startBound({ program: "sh", args, env, fileBytesMax: 64 * 1024 });
  child.stdout.resume();
  child.stderr.resume();
  const { code, signal } = await child.ended;
  expect(code !== 0 || signal !== null).toBe(true);
  expect(statSync(path).size).toBe(64 * 1024);
});

test("the cap is halved for a shell that counts blocks of 1,024 bytes", async () => {
  // A shell that is not bash believes the variable. A newer bash sets its own version, and counts 512.
  const child = startBound({
    program: "sh",
    args: ["-c", 'echo "$BASH_VERSION"; ulimit -f'],
    env: { ...env, BASH_VERSION: "3.2.57(1)-release" },
    fileBytesMax: 64 * 1024,
  });
  child.stderr.resume();
  const [version, blocks] = Buffer.concat(await child.stdout.toArray())
    .toString()
    .split("\n");
  expect(blocks).toBe(version?.startsWith("3.2.") ? "64" : "128");
  await child.ended;
});

test("without a free file descriptor it fails with a clear error, and the process survives", () => {
  const program = `
    import { openSync } from "node:fs";
    import { startBound } from ${JSON.stringify(join(import.meta.dirname, "bound-process.ts"))};
    try {
      for (;;) openSync("/dev/null");
    } catch {}
    const tell = (error) => console.log(error.code, error.retryable, error.publicMessage);
    await startBound({ program: "true", args: [], env: process.env }).ended.catch(tell);`;
  const args = ["-c", `ulimit -n 200; exec "$@"`, "sh", process.execPath, "--input-type=module", "-e", program];
  const { status, stdout } = spawnSync("/bin/sh", args, { encoding: "utf8" });
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^unavailable true The server is out of file descriptors/),
  });
});

test.skipIf(!hasProc())(
  "if the process starter dies, its children die, callers are told, and the next start works (Linux)",
  async () => {
    const fifo = makeFifo("starter");
    const child = startBound({ program: "sh", args: ["-c", stubborn, "sh", fifo.path], env });
    await once(child.stdout, "data");
    process.kill(starterOf(process.pid), "SIGKILL");
    await expect(child.ended).rejects.toMatchObject({ code: "unavailable", retryable: true });
    await fifo.allGone;
    const next = startBound({ program: "cat", args: [], env });
    next.stderr.resume();
    next.stdin.end("again");
    expect(String(Buffer.concat(await next.stdout.toArray()))).toBe("again");
    expect(await next.ended).toEqual({ code: 0, signal: null });
  },
);

test("a child that exits before it has read its input does not block the writer", async () => {
  for (let round = 0; round < 20; round += 1) {
    const child = startBound({ program: "true", args: [], env });
    child.stdout.resume();
    child.stderr.resume();
    const written = pipeline(Readable.from(Array(256).fill(Buffer.alloc(2 ** 16))), child.stdin).catch(() => "refused");
    expect(await child.ended).toEqual({ code: 0, signal: null });
    expect(await written).toBe("refused");
  }
});

test.skipIf(!hasProc())(
  "whoever finds the process starter without its token gets nothing started (Linux)",
  async () => {
    const child = startBound({ program: "cat", args: [], env });
    child.stderr.resume();
    const names = readFileSync("/proc/net/unix", "utf8").match(/@emend-[0-9a-f]{32}/g) ?? [];
    expect(names.length).toBeGreaterThan(0);
    for (const name of new Set(names)) {
      const stranger = connect({ path: `\0${name.slice(1)}` }).on("error", () => {});
      stranger.write("wrong 1 1\n");
      // Another suite's may be gone by now.
      await once(stranger.resume(), "close").catch(() => {});
    }
    child.stdin.end("mine");
    expect(String(Buffer.concat(await child.stdout.toArray()))).toBe("mine");
  },
);

test("a start that fails keeps no lock", () => {
  const program = `
    import { closeSync, openSync } from "node:fs";
    import { openLock, startBound } from ${JSON.stringify(join(import.meta.dirname, "bound-process.ts"))};
    const open = () => openLock(${JSON.stringify(join(dir, "kept"))}, ${JSON.stringify(lockProgram("exclusive", { waits: false }))}, process.env);
    const lock = await open();
    const files = [];
    try {
      for (;;) files.push(openSync("/dev/null"));
    } catch {}
    await startBound({ program: "true", args: [], env: process.env, locks: [lock.id] }).ended.catch(() => {
      lock.close();
    });
    for (const file of files) closeSync(file);
    console.log(lock.isLocked, (await open()).isLocked);`;
  const args = ["-c", `ulimit -n 200; exec "$@"`, "sh", process.execPath, "--input-type=module", "-e", program];
  expect(spawnSync("/bin/sh", args, { encoding: "utf8" }).stdout).toBe("true true\n");
});

test("a socket with a file, as on macOS, is removed when the server is gone", async () => {
  // TMPDIR may be too long for a socket.
  const folder = mkdtempSync("/tmp/emend-socket-");
  const starter = fork(join(import.meta.dirname, "process-starter.ts"), { stdio: "inherit" });
  starter.send({ kind: "listen", address: join(folder, "start"), token: "token" });
  await once(starter, "message");
  expect(existsSync(join(folder, "start"))).toBe(true);
  starter.disconnect();
  await once(starter, "exit");
  expect(existsSync(folder)).toBe(false);
});
