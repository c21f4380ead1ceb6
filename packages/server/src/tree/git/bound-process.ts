import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { AppError } from "../../errors.ts";

/** A child in a process group of its own, which dies with this process however that ends. */
export interface BoundProcess {
  /** Of the process and its group; undefined where it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves once it has exited and its output was read; rejects where it could not be started. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Asks the group to stop, so that git can remove its lock files, and makes it stop soon after. */
  stop(): void;
}

const killAfterMs = 2_000;
const blockBytes = 512;

/**
 * The guard holds one end of a pipe whose other end is ours: whenever that closes, by our hand or because the kernel
 * took this process down, it kills the whole group. The program itself never sees the pipe.
 */
const script = `
[ "$1" = - ] || ulimit -f "$1"
[ "$2" = - ] || ulimit -d "$2"
shift 2
(trap "" TERM; read -r _ <&3; kill -9 0) </dev/null >/dev/null 2>&1 4<&- 5<&- &
exec 3<&-
exec "$@"`;

export function startBound(options: {
  program: string;
  args: readonly string[];
  env: Readonly<Record<string, string>>;
  /** No file that it writes may grow past this. */
  fileBytesMax?: number;
  /** Of its own, mapped files apart. */
  memoryBytesMax?: number;
  /** Kept open in the child (as 4 and 5), so that a lock is held until the last writer is gone. */
  descriptors?: readonly number[];
}): BoundProcess {
  const { fileBytesMax, memoryBytesMax, descriptors = [] } = options;
  const blocks = fileBytesMax === undefined ? "-" : String(Math.ceil(fileBytesMax / blockBytes));
  const kibibytes = memoryBytesMax === undefined ? "-" : String(Math.ceil(memoryBytesMax / 1024));
  const child = spawn("/bin/sh", ["-c", script, "sh", blocks, kibibytes, options.program, ...options.args], {
    cwd: "/",
    detached: true,
    env: options.env,
    stdio: ["pipe", "pipe", "pipe", "pipe", ...descriptors],
  });
  const { promise: ended, resolve, reject } = Promise.withResolvers<Awaited<BoundProcess["ended"]>>();
  // Before anything else: an error event that nobody hears ends this process.
  child.once("error", reject);
  // Without a free file descriptor the child has no pipes at all.
  if (child.stdio === undefined) {
    ended.catch(() => {});
    throw outOfDescriptors();
  }
  const [stdin, stdout, stderr, lifeline] = child.stdio as unknown as [Writable, Readable, Readable, Writable];
  // Writing to a child that is gone is no fault of its own: its exit tells more.
  for (const stream of [stdin, lifeline]) stream.on("error", () => {});

  let killTimer: NodeJS.Timeout | undefined;
  child.once("exit", () => lifeline.destroy());
  child.once("close", (code, signal) => {
    clearTimeout(killTimer);
    resolve({ code, signal });
  });

  return {
    pid: child.pid,
    stdin,
    stdout,
    stderr,
    ended,
    stop() {
      if (killTimer || child.exitCode !== null || child.signalCode !== null) return;
      killGroup(child, "SIGTERM");
      killTimer = setTimeout(() => killGroup(child, "SIGKILL"), killAfterMs);
    },
  };
}

const freeAgainMs = 5_000;

function outOfDescriptors(): AppError {
  const publicMessage =
    "The server is out of file descriptors, so it could not start git. Try again later. " +
    "If this goes on, raise the limit (`ulimit -n`) or lower EMEND_CONCURRENCY: `emend doctor` says what is needed.";
  return new AppError("unavailable", { publicMessage, retryable: true, retryAfterMs: freeAgainMs });
}

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It ended by itself in the meantime.
  }
}
