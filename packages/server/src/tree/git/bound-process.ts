import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { AppError } from "../../errors.ts";

/** A child in its own process group, which is killed when this process ends in any way. */
export interface BoundProcess {
  /** The id of the process and its group. Undefined if it could not be started. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when it has exited and its output was read. Rejects if it could not be started. */
  readonly ended: Promise<{ code: number | null; signal: NodeJS.Signals | null }>;
  /** Sends SIGTERM to the group, so that git can remove its lock files, and SIGKILL soon after. */
  stop(): void;
}

const killAfterMs = 2_000;
const blockBytes = 512;

/**
 * The guard holds one end of a pipe; this process holds the other. When that closes, even because the kernel killed
 * this process, the guard kills the whole group. The program itself does not get the pipe.
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
  /** The maximum size of any file that it writes. */
  fileBytesMax?: number;
  /** Its own memory, without mapped files. */
  memoryBytesMax?: number;
  /** Kept open in the child (as 4 and 5), so that a lock is held until the last writer exits. */
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
  // First of all: an error event without a listener ends this process.
  child.once("error", reject);
  // Without a free file descriptor the child has no pipes.
  if (child.stdio === undefined) {
    ended.catch(() => {});
    throw outOfDescriptors();
  }
  const [stdin, stdout, stderr, lifeline] = child.stdio as unknown as [Writable, Readable, Readable, Writable];
  // A write to an exited child is not an error: its exit code says more.
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
    // It already exited.
  }
}
