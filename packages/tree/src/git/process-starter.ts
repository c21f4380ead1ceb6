// A small process that starts git for the server. A fork copies the page tables of the process that forks: at 400 MB that
// takes about 10 ms and blocks every request meanwhile, here it takes one. See bound-process.ts for the other side.
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, existsSync, openSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { dirname } from "node:path";
import type { Duplex } from "node:stream";

export type Order =
  | { kind: "listen"; address: string; token: string }
  | {
      kind: "start";
      id: number;
      program: string;
      args: readonly string[];
      env: Readonly<Record<string, string>>;
      locks: readonly number[];
    }
  /** The server no longer waits for it: one that has not started yet fails. */
  | { kind: "abandon"; id: number }
  | { kind: "lock"; id: number; path: string; program: readonly string[]; env: Readonly<Record<string, string>> }
  | { kind: "unlock"; id: number };

export type Report =
  | { kind: "ready" }
  | { kind: "started"; id: number; pid: number }
  | { kind: "ended"; id: number; code: number | null; signal: NodeJS.Signals | null }
  | { kind: "opened"; id: number; isLocked: boolean }
  | { kind: "failed"; id: number; code: string };

type Start = Extract<Order, { kind: "start" }>;
type Lock = Extract<Order, { kind: "lock" }>;

const closeOnExec = 0o2000000;
closeInherited();

const streamCount = 3;
const headerMsMax = 10_000;
/** Orders and connections arrive in any order. A start has all of its own. */
const waiting = new Map<number, { order?: Start; streams: Map<number, Socket> }>();
/** Open lock files, and those that the server needs no longer. */
const files = new Map<number, number>();
const released = new Set<number>();
let socketFolder: string | null = null;

process.on("message", (order: Order) => {
  if (order.kind === "listen") listen(order.address, order.token);
  else if (order.kind === "lock") lock(order);
  else if (order.kind === "start") {
    waitingFor(order.id).order = order;
    startIfComplete(order.id);
  } else {
    if (order.kind === "unlock") released.add(order.id);
    else abandon(order.id);
    closeReleased();
  }
});
// The server has exited. The lifelines close with this process, so every group that it started is killed.
process.on("disconnect", () => {
  if (socketFolder !== null) rmSync(socketFolder, { recursive: true, force: true });
  process.exit();
});
// These are for the server, which ends its commands in its own time.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});

/**
 * What the program that started the server left open: Node keeps descriptors above 16 from a child only up to the first
 * gap, and a sandboxed program must not have one. Those of this process close on exec, or were opened for it.
 */
function closeInherited(): void {
  const folder = "/proc/self/fdinfo";
  if (!existsSync(folder)) return;
  for (const name of readdirSync(folder)) {
    const descriptor = Number(name);
    // The fourth is the channel to the server.
    if (descriptor <= 3) continue;
    try {
      const flags = /^flags:\s*([0-7]+)$/m.exec(readFileSync(`${folder}/${name}`, "latin1"))?.[1] ?? "0";
      if ((Number.parseInt(flags, 8) & closeOnExec) === 0) closeSync(descriptor);
    } catch {
      // It was the folder's own.
    }
  }
}

function listen(address: string, token: string): void {
  if (!address.startsWith("\0")) socketFolder = dirname(address);
  const server = createServer((stream) => {
    stream.on("error", () => {});
    stream.setTimeout(headerMsMax, () => stream.destroy());
    stream.once("data", (header) => {
      stream.setTimeout(0);
      const [sentToken, id, nth] = header.toString("latin1").trim().split(" ");
      if (sentToken !== token) return void stream.destroy();
      waitingFor(Number(id)).streams.set(Number(nth), stream.pause());
      startIfComplete(Number(id));
    });
  });
  server.listen(address, () => report({ kind: "ready" }));
}

/** A start whose order has come reports a failure, or has reported what became of it. */
function abandon(id: number): void {
  const found = waiting.get(id);
  if (!found) return;
  waiting.delete(id);
  for (const stream of found.streams.values()) stream.destroy();
  if (found.order) report({ kind: "failed", id, code: "ECANCELED" });
}

function waitingFor(id: number) {
  const found = waiting.get(id) ?? { streams: new Map<number, Socket>() };
  waiting.set(id, found);
  return found;
}

function startIfComplete(id: number): void {
  const { order, streams } = waitingFor(id);
  if (!order || streams.size < streamCount) return;
  waiting.delete(id);
  const inherited = [0, 1, 2].map((nth) => streams.get(nth) as Socket);
  const locks = order.locks.map((lockId) => files.get(lockId) ?? -1);
  const fail = (code: string) => report({ kind: "failed", id, code });
  if (locks.includes(-1)) fail("ENOLCK");
  else {
    const child = spawn(order.program, order.args, {
      cwd: "/",
      detached: true,
      env: order.env,
      stdio: [...inherited, "pipe", ...locks],
    });
    child.once("error", (error: NodeJS.ErrnoException) => fail(error.code ?? "EIO"));
    if (child.pid !== undefined) tell(id, child, child.pid);
  }
  // Only the child has them from now on.
  for (const stream of inherited) stream.destroy();
  closeReleased();
}

/** A start that still waits for its streams was given its locks already, and passes them on. */
function closeReleased(): void {
  const passed = new Set([...waiting.values()].flatMap(({ order }) => order?.locks ?? []));
  for (const id of released) {
    if (passed.has(id)) continue;
    const file = files.get(id);
    released.delete(id);
    files.delete(id);
    if (file !== undefined) closeSync(file);
  }
}

function tell(id: number, child: ChildProcess, pid: number): void {
  const lifeline = (child.stdio as unknown as Duplex[])[3];
  lifeline?.on("error", () => {});
  child.once("exit", (code, signal) => {
    lifeline?.destroy();
    report({ kind: "ended", id, code, signal });
  });
  report({ kind: "started", id, pid });
}

/** Opens the file, and takes the lock if it is free: most are. */
function lock({ id, path, program: [name = "", ...args], env }: Lock): void {
  let file: number;
  try {
    file = openSync(path, "a", 0o600);
  } catch (error) {
    report({ kind: "failed", id, code: (error as NodeJS.ErrnoException).code ?? "EIO" });
    return;
  }
  files.set(id, file);
  const locker = spawn(name, args, { stdio: ["ignore", "ignore", "ignore", "ignore", file], env });
  const opened = (isLocked: boolean) => report({ kind: "opened", id, isLocked });
  locker.once("error", () => opened(false));
  locker.once("exit", (code) => opened(code === 0));
}

function report(message: Report): void {
  process.send?.(message, () => {});
}
