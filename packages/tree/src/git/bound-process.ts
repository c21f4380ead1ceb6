import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { getCompileCacheDir } from "node:module";
import { Socket } from "node:net";
import { dirname, join } from "node:path";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import { TreeFault } from "../faults.ts";
import type { Order, Report } from "./process-starter.ts";

/** A child in its own process group, which is killed when this process ends in any way. */
export interface BoundProcess {
  /** The id of the process and its group. Undefined if it could not be started. */
  readonly pid: Promise<number | undefined>;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when it has exited and its output was read. Rejects if it could not be started. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /**
   * Sends SIGTERM to the group, so that git can remove its lock files, and SIGKILL soon after. `ended` settles then,
   * whatever became of the start.
   */
  stop(): void;
}

const killAfterMs = 2_000;
const blockBytes = 512;

/**
 * The guard holds one end of a pipe; the process starter holds the other, and exits with this process. When that closes,
 * even because the kernel killed this process, the guard kills the whole group. The program itself does not get the pipe.
 */
const script = `
# Blocks of 512 bytes (POSIX), but bash before 4.1, which is Apple's sh, counts in 1,024.
case "$BASH_VERSION" in [123].* | 4.0*) size=2 ;; *) size=1 ;; esac
[ "$1" = - ] || ulimit -f $((($1 + size - 1) / size))
[ "$2" = - ] || ulimit -d "$2"
[ "$3" = - ] || { umask 077; exec >"$3"; }
shift 3
(trap "" TERM; read -r _ <&3; kill -9 0) </dev/null >/dev/null 2>&1 4<&- 5<&- &
exec 3<&-
exec "$@"`;

export function startBound(options: {
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** The maximum size of any file that it writes. */
  fileBytesMax?: number;
  /** Its own memory, without mapped files. */
  memoryBytesMax?: number;
  /** A new file for its standard output. */
  outputFile?: string;
  /** Open lock files (as 4 and 5 in the child), so that a lock is held until the last writer exits. */
  locks?: readonly number[];
}): BoundProcess {
  const { fileBytesMax, memoryBytesMax, outputFile = "-", locks = [], env } = options;
  const blocks = fileBytesMax === undefined ? "-" : String(Math.ceil(fileBytesMax / blockBytes));
  const kibibytes = memoryBytesMax === undefined ? "-" : String(Math.ceil(memoryBytesMax / 1024));
  const args = ["-c", script, "sh", blocks, kibibytes, outputFile, options.program, ...options.args];

  const starter = theStarter();
  const id = starter.nextId();
  const stdin = new PassThrough();
  const [input, stdout, stderr] = [new Socket(), new Socket(), new Socket()];
  // A write to an exited child is not an error: its exit code says more.
  for (const stream of [stdin, input, stdout, stderr]) stream.on("error", () => {});
  const closed = [stdout, stderr].map((stream) => new Promise((resolve) => stream.once("close", resolve)));

  const { promise: ended, resolve, reject } = Promise.withResolvers<Awaited<BoundProcess["ended"]>>();
  const started = Promise.withResolvers<number | undefined>();
  let pid: number | undefined;
  let hasStarted = false;
  let isStopped = false;
  let isSettled = false;
  let killTimer: NodeJS.Timeout | undefined;
  let settleTimer: NodeJS.Timeout | undefined;
  function stopGroup(): void {
    killGroup(pid, "SIGTERM");
    killTimer = setTimeout(() => killGroup(pid, "SIGKILL"), killAfterMs);
  }
  function settle(): void {
    isSettled = true;
    clearTimeout(killTimer);
    clearTimeout(settleTimer);
  }
  function fail(error: TreeFault): void {
    settle();
    for (const stream of [stdin, input, stdout, stderr]) stream.destroy(error);
    started.resolve(undefined);
    reject(error);
  }
  // Whoever only reads its output learns it there.
  ended.catch(() => {});

  starter.begin(id, {
    failed: (code) => fail(faultOf(code)),
    started(startedPid) {
      hasStarted = true;
      pid = startedPid;
      started.resolve(pid);
      if (isStopped) stopGroup();
      // Not before: the process starter reads the connection until it hands it on.
      stdin.pipe(input);
      input.resume();
    },
    async ended(code, signal) {
      stdin.destroy();
      input.destroy();
      pid = undefined;
      await Promise.all(closed);
      settle();
      resolve({ code, signal });
    },
    lost: fail,
  });
  for (const stream of [input, stdout, stderr]) {
    // The process starter dropped a connection: it stood still, or this process did. It knows whether the child runs.
    stream.once("close", () => {
      if (!hasStarted && !isSettled) starter.send({ kind: "abandon", id });
    });
  }
  starter.send({ kind: "start", id, program: "/bin/sh", args, env, locks });
  starter.connect(id, [input, stdout, stderr], fail);

  return {
    pid: started.promise,
    stdin,
    stdout,
    stderr,
    ended,
    stop() {
      if (isStopped || isSettled) return;
      isStopped = true;
      if (pid === undefined) starter.send({ kind: "abandon", id });
      else stopGroup();
      // The process starter may not answer, or something may hold the streams open.
      settleTimer = setTimeout(() => {
        starter.forget(id);
        killGroup(pid, "SIGKILL");
        fail(lostStart());
      }, killAfterMs * 2);
    },
  };
}

interface Task {
  failed(code: string): void;
  started?(pid: number): void;
  ended?(code: number | null, signal: NodeJS.Signals | null): void;
  opened?(isLocked: boolean): void;
  /** The process starter died. */
  lost(error: TreeFault): void;
}

interface Starter {
  nextId(): number;
  begin(id: number, task: Task): void;
  /** If it starts all the same, it is killed. */
  forget(id: number): void;
  send(order: Order): void;
  connect(id: number, streams: readonly Socket[], failed: (error: TreeFault) => void): void;
}

let current: Starter | null = null;
let ids = 0;

function theStarter(): Starter {
  current ??= startStarter();
  return current;
}

function startStarter(): Starter {
  // Linux: no file, so nothing to remove and no folder that must be writable. Whoever else finds the name lacks the token.
  const name = `emend-${randomBytes(16).toString("hex")}`;
  const isLinux = process.platform === "linux";
  // A socket's path has 104 bytes on a Mac, and the usual TMPDIR there can use most of them.
  const address = isLinux ? `\0${name}` : join(mkdtempSync("/tmp/emend-"), "start");
  const token = randomBytes(16).toString("hex");
  const tasks = new Map<number, Task>();
  const ready = Promise.withResolvers<void>();
  ready.promise.catch(() => {});
  const file = fileURLToPath(new URL("./process-starter.ts", import.meta.url));
  const cache = getCompileCacheDir();
  // In a session of its own, so that Ctrl-C reaches only the server.
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", file], {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
    detached: true,
    // Node adds a subfolder for its version to the configured folder.
    env: { PATH: process.env.PATH ?? "", ...(cache && { NODE_COMPILE_CACHE: dirname(cache) }) },
  });

  function lose(error: TreeFault): void {
    if (current === starter) current = null;
    ready.reject(error);
    for (const [id, task] of tasks) {
      tasks.delete(id);
      task.lost(error);
    }
  }
  function settle(id: number): void {
    tasks.delete(id);
    // Without work, it does not keep this process alive.
    if (tasks.size === 0) child.channel?.unref();
  }
  child.once("error", () => lose(outOfDescriptors()));
  child.once("exit", () => lose(lostStarter()));
  child.on("message", (report: Report) => {
    if (report.kind === "ready") return ready.resolve();
    const task = tasks.get(report.id);
    if (report.kind === "started") return task ? task.started?.(report.pid) : killGroup(report.pid, "SIGKILL");
    settle(report.id);
    if (report.kind === "failed") task?.failed(report.code);
    else if (report.kind === "opened") task?.opened?.(report.isLocked);
    else task?.ended?.(report.code, report.signal);
  });
  child.unref();

  const starter: Starter = {
    nextId() {
      ids += 1;
      return ids;
    },
    begin(id, task) {
      tasks.set(id, task);
      child.channel?.ref();
    },
    forget: settle,
    send(order) {
      // An error means that it exits, which is reported for every task.
      if (child.connected) child.send(order, () => {});
    },
    async connect(id, streams, failed) {
      const fail = (error: TreeFault) => {
        if (!tasks.has(id)) return;
        settle(id);
        starter.send({ kind: "abandon", id });
        failed(error);
      };
      try {
        await ready.promise;
      } catch {
        return;
      }
      for (const [nth, stream] of streams.entries()) {
        // Later errors mean that the child has closed its end.
        stream.once("error", ({ syscall }: NodeJS.ErrnoException) => {
          if (syscall === "connect") fail(outOfDescriptors());
        });
        stream.connect({ path: address });
        const header = `${token} ${id} ${nth}\n`;
        // The child only reads from the first. To the others we send nothing more.
        if (nth === 0) stream.write(header);
        else stream.end(header);
      }
    },
  };
  starter.send({ kind: "listen", address, token });
  return starter;
}

/** Opens a file, and takes its lock with this program if it is free. The program gets the file as descriptor 4. */
export async function openLock(
  path: string,
  program: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<{ id: number; isLocked: boolean; close(): void }> {
  const starter = theStarter();
  const id = starter.nextId();
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  starter.begin(id, {
    failed: (code) => reject(/^E[MN]FILE$/.test(code) ? outOfDescriptors() : cannotOpen(path, code)),
    opened: resolve,
    lost: reject,
  });
  starter.send({ kind: "lock", id, path, program, env });
  return { id, isLocked: await promise, close: () => starter.send({ kind: "unlock", id }) };
}

function cannotOpen(path: string, code: string): TreeFault {
  const message = `the lock file ${path} cannot be opened: ${code}`;
  return new TreeFault("internal", { publicMessage: `A lock file of the mirror cannot be opened (${code}).`, message });
}

function lostStarter(): TreeFault {
  const publicMessage = "The process that starts git for the server has died. Emend starts another one. Try again.";
  return new TreeFault("unavailable", { publicMessage, retryable: true, retryAfterMs: 1_000 });
}

function lostStart(): TreeFault {
  const publicMessage = "Git could not be started in time: the server stood still, or is very busy. Try again.";
  return new TreeFault("unavailable", { publicMessage, retryable: true, retryAfterMs: 1_000 });
}

function faultOf(code: string): TreeFault {
  if (code === "ECANCELED") return lostStart();
  return code === "ENOLCK" ? lostStarter() : outOfDescriptors();
}

const freeAgainMs = 5_000;

function outOfDescriptors(): TreeFault {
  const publicMessage =
    "The server is out of file descriptors, so it could not start git. Try again later. " +
    "If this goes on, raise the limit (`ulimit -n`) or lower EMEND_CONCURRENCY: `emend doctor` says what is needed.";
  return new TreeFault("unavailable", { publicMessage, retryable: true, retryAfterMs: freeAgainMs });
}

function killGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It already exited.
  }
}
