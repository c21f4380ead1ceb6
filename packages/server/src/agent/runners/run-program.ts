import { open, readdir, readFile, readlink } from "node:fs/promises";
import type { Readable } from "node:stream";
import { setTimeout } from "node:timers/promises";
import { type BoundProcess, startBound } from "../../tree/git/bound-process.ts";
import { watchMemory } from "./watch-memory.ts";

export type ProgramEnd =
  | { kind: "exited"; code: number | null; stdout: string; stderr: string }
  | { kind: "timed out" }
  | { kind: "too large"; words: string };

const outputBytesMax = 8 * 2 ** 20;
const wordsBytesMax = 64 * 2 ** 10;
const fileBytesMax = 256 * 2 ** 20;
const script = 'cd "$1" || exit 126; shift; ulimit -c 0; exec "$@"';

/**
 * Runs a program to its end, or ends it: at the time limit, above its memory, or with the signal. It and what it started
 * are one process group, which dies with this process too.
 */
export async function runProgram(
  input: {
    command: readonly string[];
    cwd: string;
    env: Readonly<Record<string, string>>;
    stdin: string;
    memoryBytesMax: number;
    clock: AbortSignal;
    /** Where a sandbox is told to write what it made; null: there is none. */
    statusFile: string | null;
  },
  signal: AbortSignal,
): Promise<ProgramEnd> {
  signal.throwIfAborted();
  const status = input.statusFile === null ? null : await open(input.statusFile, "w");
  const child = startBound({
    program: "/bin/sh",
    args: ["-c", script, "sh", input.cwd, ...input.command],
    env: input.env,
    fileBytesMax,
    // As the descriptor 4.
    descriptors: status === null ? [] : [status.fd],
  });
  const stdout = gather(child.stdout, outputBytesMax);
  const stderr = gather(child.stderr, wordsBytesMax);
  child.stdin.end(input.stdin);
  let overdrawn: string | null = null;
  const stopWatching = watchMemory(child.pid, input.memoryBytesMax, (words) => {
    overdrawn ??= words;
    child.stop();
  });
  const either = AbortSignal.any([signal, input.clock]);
  const stop = () => child.stop();
  either.addEventListener("abort", stop);
  if (either.aborted) stop();
  try {
    const { code } = await endOf(child);
    if (input.statusFile !== null) await untilGone(input.statusFile);
    signal.throwIfAborted();
    if (overdrawn !== null) return { kind: "too large", words: overdrawn };
    if (input.clock.aborted) return { kind: "timed out" };
    return { kind: "exited", code, stdout: stdout(), stderr: stderr() };
  } finally {
    either.removeEventListener("abort", stop);
    stopWatching();
    await status?.close();
  }
}

async function endOf(child: BoundProcess): Promise<{ code: number | null }> {
  try {
    return await child.ended;
  } finally {
    child.stop();
  }
}

/** The first part of a stream; the rest is read and dropped, so that a program that talks too much is not held up. */
function gather(stream: Readable, bytesMax: number): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    if (bytes < bytesMax) chunks.push(chunk.subarray(0, bytesMax - bytes));
    bytes += chunk.byteLength;
  });
  return () => Buffer.concat(chunks).toString();
}

const lookEveryMs = 10;
const usualWaitMsMax = 10_000;

/**
 * Resolves once no process of a sandbox is left. bubblewrap ends with the program that it was given; what that program
 * started is killed by the kernel a moment later, and until then it could still write to what is about to be read.
 */
export async function untilGone(statusFile: string, waitMsMax = usualWaitMsMax): Promise<void> {
  const [, namespace] = /"pid-namespace":\s*(\d+)/.exec(await readFile(statusFile, "utf8")) ?? [];
  // It never came so far as to start anything.
  if (namespace === undefined) return;
  const deadline = performance.now() + waitMsMax;
  while (await isInhabited(`pid:[${namespace}]`)) {
    if (performance.now() > deadline) throw new Error("processes of a sandbox outlived it");
    await setTimeout(lookEveryMs);
  }
}

async function isInhabited(namespace: string): Promise<boolean> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const living = await Promise.all(
    pids.map(async (pid) => {
      const found = await readlink(`/proc/${pid}/ns/pid`).catch(() => "");
      return found === namespace && (await isLiving(pid));
    }),
  );
  return living.includes(true);
}

/** What is dead and only waits for its parent to notice does nothing any more. */
async function isLiving(pid: string): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return line !== "" && !/^[ZX]/.test(line.slice(line.lastIndexOf(")") + 2));
}
