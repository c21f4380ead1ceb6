// Costly: the lock is between processes.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, afterEach, expect, test } from "vitest";
import type { Home } from "./home.ts";
import { type HolderRole, type LockResult, tryLock } from "./home.ts";

const dir = await mkdtemp(join(tmpdir(), "emend-lock-"));
const home: Home = { dir, copiesDir: dir, user: { uid: 0, gid: 0, name: "", isOther: false } };
const children: ChildProcess[] = [];
afterEach(() => children.splice(0).map((child) => child.kill("SIGKILL")));
afterAll(() => rm(dir, { recursive: true }));

const program = `
  const { tryLock } = await import(process.argv[1]);
  console.log(JSON.stringify(await tryLock(JSON.parse(process.argv[2]), process.argv[3])));
  process.stdin.resume().on("end", () => process.exit());
`;

async function takeInChild(role: HolderRole): Promise<{ child: ChildProcess; result: LockResult }> {
  const lockModule = new URL("home.ts", import.meta.url).href;
  const args = ["--input-type=module", "-e", program, lockModule, JSON.stringify(home), role];
  const child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  children.push(child);
  const [line] = await once(createInterface(child.stdout), "line");
  return { child, result: JSON.parse(line) };
}

function held(result: LockResult): () => void {
  if (result.kind !== "held") throw new Error("not held");
  return result.release;
}

test("of concurrent processes, exactly one gets the lock", async () => {
  const results = await Promise.all([1, 2, 3, 4].map(() => takeInChild("server")));
  expect(results.map(({ result }) => result.kind).sort()).toEqual(["held", "taken", "taken", "taken"]);
});

test("a refusal names the holder and its role", async () => {
  const { child } = await takeInChild("command");
  expect(await tryLock(home, "server")).toEqual({ kind: "taken", holder: { pid: child.pid, role: "command" } });
});

test("a killed holder leaves no lock behind", async () => {
  const { child } = await takeInChild("server");
  child.kill("SIGKILL");
  await once(child, "exit");
  held(await tryLock(home, "server"))();
});

test("a second taker in the same process is refused, and released means free", async () => {
  const release = held(await tryLock(home, "server"));
  expect((await tryLock(home, "server")).kind).toBe("taken");
  release();
  held(await tryLock(home, "command"))();
});

test("what a dead holder wrote of itself does not count", async () => {
  await writeFile(join(dir, "holder.json"), JSON.stringify({ pid: process.pid, role: "server" }));
  held(await tryLock(home, "server"))();
});
