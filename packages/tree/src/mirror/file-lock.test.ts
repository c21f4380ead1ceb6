// Costly: the lock is between processes, and must end with its holder.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startBound } from "../git/bound-process.ts";
import { lockFile } from "./mirror-context.ts";

const signal = new AbortController().signal;
const soon = { mode: "exclusive", waitMsMax: 300 } as const;
const patient = { mode: "exclusive", waitMsMax: 20_000 } as const;
let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "emend-lock-"));
});
afterAll(() => {
  rmSync(dir, { recursive: true, force: true });
});

test("one holder at a time; the next one gets it on release", async () => {
  const path = join(dir, "one");
  const first = await lockFile(path, patient, signal);
  await expect(lockFile(path, soon, signal)).rejects.toMatchObject({ retryable: true });
  const waiting = lockFile(path, patient, signal);
  await first.release();
  await (await waiting).release();
});

test("shared holders keep only an exclusive one out", async () => {
  const path = join(dir, "shared");
  const shared = { mode: "shared", waitMsMax: 20_000 } as const;
  const holders = await Promise.all([lockFile(path, shared, signal), lockFile(path, shared, signal)]);
  await expect(lockFile(path, soon, signal)).rejects.toThrow(/busy/);
  await Promise.all(holders.map((holder) => holder.release()));
  await (await lockFile(path, patient, signal)).release();
});

test("a killed holder leaves no lock behind", async () => {
  const path = join(dir, "killed");
  const program = `
    import { lockFile } from ${JSON.stringify(join(import.meta.dirname, "mirror-context.ts"))};
    const options = { mode: "exclusive", waitMsMax: 20_000 };
    globalThis.lock = await lockFile(${JSON.stringify(path)}, options, new AbortController().signal);
    console.log("held");
    setInterval(() => {}, 1000);`;
  const holder = spawn(process.execPath, ["--input-type=module", "-e", program], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  try {
    await once(holder.stdout, "data");
    await expect(lockFile(path, soon, signal)).rejects.toThrow(/busy/);
  } finally {
    holder.kill("SIGKILL");
  }
  await (await lockFile(path, patient, signal)).release();
});

test("a child that was given the lock holds it until it is gone", async () => {
  const path = join(dir, "child");
  const lock = await lockFile(path, patient, signal);
  const env = { PATH: process.env.PATH ?? "" };
  const child = startBound({ program: "cat", args: [], env, locks: [lock.id] });
  child.stdout.resume();
  child.stderr.resume();
  await lock.release();
  try {
    await expect(lockFile(path, soon, signal)).rejects.toThrow(/busy/);
  } finally {
    child.stdin.end();
  }
  await child.ended;
  await (await lockFile(path, patient, signal)).release();
});

test("a waiter that gave up does not take the lock later", async () => {
  const path = join(dir, "gone");
  const first = await lockFile(path, patient, signal);
  const controller = new AbortController();
  const waiting = lockFile(path, patient, controller.signal);
  controller.abort(new Error("changed my mind"));
  await expect(waiting).rejects.toThrow("changed my mind");
  await first.release();
  await (await lockFile(path, patient, signal)).release();
});

test("perl locks where flock is missing", async () => {
  const bin = mkdtempSync(join(dir, "bin-"));
  symlinkSync("/usr/bin/perl", join(bin, "perl"));
  const path = join(dir, "perl");
  const before = process.env.PATH;
  process.env.PATH = bin;
  try {
    const lock = await lockFile(path, patient, signal);
    await expect(lockFile(path, soon, signal)).rejects.toThrow(/busy/);
    await lock.release();
    process.env.PATH = mkdtempSync(join(dir, "none-"));
    await expect(lockFile(path, patient, signal)).rejects.toThrow(/Install flock/);
  } finally {
    process.env.PATH = before;
  }
});
