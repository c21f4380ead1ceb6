import { type ChildProcess, spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";

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
  const [stdin, stdout, stderr, lifeline] = child.stdio as unknown as [Writable, Readable, Readable, Writable];
  // Writing to a child that is gone is no fault of its own: its exit tells more.
  for (const stream of [stdin, lifeline]) stream.on("error", () => {});

  const { promise: ended, resolve, reject } = Promise.withResolvers<Awaited<BoundProcess["ended"]>>();
  let killTimer: NodeJS.Timeout | undefined;
  child.once("error", reject);
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

function killGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It ended by itself in the meantime.
  }
}
