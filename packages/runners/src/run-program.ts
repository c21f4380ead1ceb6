import { execFile } from "node:child_process";
import { closeSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { setImmediate, setTimeout } from "node:timers/promises";
import { promisify } from "node:util";
import type { StartedProcess, StartProcess } from "./runner.ts";

export type ProgramEnd =
  | { kind: "exited"; code: number | null; stdout: string; stderr: string }
  | { kind: "timed out" }
  | { kind: "too large"; words: string };

/** More of a program's output is dropped. */
export const outputBytesMax = 8 * 2 ** 20;
const wordsBytesMax = 64 * 2 ** 10;
const fileBytesMax = 256 * 2 ** 20;
/** The sandbox's status goes to descriptor 4. */
const script = 'cd "$1" || exit 126; [ "$2" = - ] || exec 4>"$2"; shift 2; ulimit -c 0; exec "$@"';

/**
 * Runs a program to its end, or stops it: at the time limit, above its memory limit, or with the signal. It and its
 * children are one process group, which is killed with this process.
 */
export async function runProgram(
  start: StartProcess,
  input: {
    command: readonly string[];
    cwd: string;
    env: Readonly<Record<string, string>>;
    stdin: string | AsyncIterable<Buffer>;
    memoryBytesMax: number;
    processesMax?: number;
    clock: AbortSignal;
    /** Where a sandbox writes its status. Null without a sandbox. */
    statusFile: string | null;
  },
  signal: AbortSignal,
): Promise<ProgramEnd> {
  signal.throwIfAborted();
  const child = start({
    program: "/bin/sh",
    args: ["-c", script, "sh", input.cwd, input.statusFile ?? "-", ...input.command],
    env: input.env,
    fileBytesMax,
  });
  const stdout = gather(child.stdout, outputBytesMax);
  const stderr = gather(child.stderr, wordsBytesMax);
  const fed = feed(child, input.stdin);
  let overdrawn: string | null = null;
  const stopWatching = watchMemory(child.pid, { processesMax: usualProcessesMax, ...input }, (words) => {
    overdrawn ??= words;
    child.stop();
  });
  const either = AbortSignal.any([signal, input.clock]);
  const stop = () => child.stop();
  either.addEventListener("abort", stop);
  if (either.aborted) stop();
  try {
    const group = await child.pid;
    const { code } = await endOf(child);
    await (input.statusFile === null ? untilGroupGone(group) : untilGone(input.statusFile));
    signal.throwIfAborted();
    const fault = await fed;
    if (fault) throw fault.error;
    if (overdrawn !== null) return { kind: "too large", words: overdrawn };
    if (input.clock.aborted) return { kind: "timed out" };
    return { kind: "exited", code, stdout: stdout(), stderr: stderr() };
  } finally {
    either.removeEventListener("abort", stop);
    stopWatching();
  }
}

/** A program may end before it has read everything. Only a fault of what is sent counts, and stops the program. */
async function feed(
  child: StartedProcess,
  given: string | AsyncIterable<Buffer>,
): Promise<{ error: unknown } | undefined> {
  if (typeof given === "string") {
    child.stdin.end(given);
    return undefined;
  }
  try {
    for await (const chunk of given) {
      if (child.stdin.destroyed) return undefined;
      if (!child.stdin.write(chunk)) await untilWritable(child.stdin);
    }
    child.stdin.end();
    return undefined;
  } catch (error) {
    child.stop();
    return { error };
  }
}

function untilWritable(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    const go = () => {
      stream.off("drain", go).off("close", go);
      resolve();
    };
    stream.once("drain", go).once("close", go);
  });
}

async function endOf(child: StartedProcess): Promise<{ code: number | null }> {
  try {
    return await child.ended;
  } finally {
    child.stop();
  }
}

/** The start of a stream. The rest is read and dropped, so that a program is not blocked. */
function gather(stream: Readable, bytesMax: number): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on("data", (chunk: Buffer) => {
    if (bytes < bytesMax) chunks.push(chunk.subarray(0, bytesMax - bytes));
    bytes += chunk.byteLength;
  });
  return () => Buffer.concat(chunks).toString();
}

const pollEveryMs = 10;
const usualWaitMsMax = 10_000;

/**
 * Resolves once no process of a sandbox is left. bubblewrap ends with its program; the kernel kills that program's
 * children a moment later, and until then they could still write to what is about to be read.
 */
export async function untilGone(statusFile: string, waitMsMax = usualWaitMsMax): Promise<void> {
  const [, namespace] = /"pid-namespace":\s*(\d+)/.exec(await readFile(statusFile, "utf8")) ?? [];
  // It never started anything.
  if (namespace === undefined) return;
  await untilNot(() => isInhabited(`pid:[${namespace}]`), waitMsMax, "processes of a sandbox outlived it");
}

/** Without a sandbox likewise: a program's group is killed by its guard, a moment after the program has ended. */
async function untilGroupGone(group: number | undefined): Promise<void> {
  const isInhabited = async () =>
    [...(await readProcesses()).values()].some((one) => one.group === group && one.isLiving);
  if (group !== undefined) await untilNot(isInhabited, usualWaitMsMax, "processes of a program outlived it");
}

async function untilNot(check: () => boolean | Promise<boolean>, waitMsMax: number, otherwise: string): Promise<void> {
  const deadline = performance.now() + waitMsMax;
  while (await check()) {
    if (performance.now() > deadline) throw new Error(otherwise);
    await setTimeout(pollEveryMs);
  }
}

function isInhabited(namespace: string): boolean {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.some((pid) => namespaceOf(pid) === namespace && isLiving(pid));
}

function namespaceOf(pid: string): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    // It has exited, or is another user's.
    return null;
  }
}

/** A zombie does nothing any more. */
function isLiving(pid: string): boolean {
  const line = readStart(`/proc/${pid}/stat`);
  return line !== "" && !endedState.test(line.slice(line.lastIndexOf(")") + 2));
}

const endedState = /^[ZX]/;

const addUpEveryMs = 300;
const usualProcessesMax = 1_000;
const pageBytes = 4_096;

interface Process {
  parent: number;
  group: number;
  bytes: number;
  isLiving: boolean;
}

/**
 * Sums the memory of a process, its descendants and its group at intervals. A kernel limit would count reserved memory,
 * and today's runtimes reserve more than any machine has.
 */
export function watchMemory(
  pid: Promise<number | undefined>,
  { memoryBytesMax: bytesMax, processesMax }: { memoryBytesMax: number; processesMax: number },
  onOver: (words: string) => void,
): () => void {
  let isOver = false;
  let isLooking = false;
  const look = async () => {
    if (isLooking || isOver) return;
    isLooking = true;
    const root = await pid;
    // What cannot be counted is not allowed to grow.
    const sum = root === undefined ? { bytes: 0, processes: 0 } : await sumOf(root).catch(() => null);
    isLooking = false;
    if (isOver || (sum !== null && sum.bytes <= bytesMax && sum.processes <= processesMax)) return;
    isOver = true;
    if (sum === null) onOver("memory that cannot be measured here, because ps is missing,");
    else
      onOver(sum.bytes > bytesMax ? `${Math.ceil(sum.bytes / 2 ** 20)} MiB of memory` : `${sum.processes} processes`);
  };
  const timer = setInterval(() => void look(), addUpEveryMs);
  timer.unref();
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

async function sumOf(root: number): Promise<{ bytes: number; processes: number }> {
  const all = await readProcesses();
  const counted = new Set([root]);
  // Children may be listed before their parents: repeat until nothing is added.
  for (let before = -1; before !== counted.size; ) {
    before = counted.size;
    for (const [pid, { parent, group }] of all) if (counted.has(parent) || group === root) counted.add(pid);
  }
  let bytes = 0;
  for (const pid of counted) bytes += all.get(pid)?.bytes ?? 0;
  return { bytes, processes: counted.size };
}

/** Linux has them as files. Elsewhere, as on a Mac, only `ps` lists them. */
export async function readProcesses(folder = "/proc"): Promise<ReadonlyMap<number, Process>> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => /^\d+$/.test(name));
  if (names.length === 0) return askPs();
  const found = new Map<number, Process>();
  for (const [index, name] of names.entries()) {
    const line = readStart(`${folder}/${name}/stat`);
    // The second field is the program's name in parentheses, and may contain anything.
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    if (fields.length >= 22) {
      found.set(Number(name), {
        parent: Number(fields[1]),
        group: Number(fields[2]),
        bytes: Number(fields[21]) * pageBytes,
        isLiving: !endedState.test(fields[0] ?? ""),
      });
    }
    if (index % 100 === 99) await setImmediate();
  }
  return found;
}

const start = Buffer.alloc(1_024);

/** These files are in memory. To wait for each would take ten times the processor time, several times a second. */
function readStart(file: string): string {
  let opened: number | undefined;
  try {
    opened = openSync(file, "r");
    return start.toString("utf8", 0, readSync(opened, start, 0, start.length, 0));
  } catch {
    // It has exited.
    return "";
  } finally {
    if (opened !== undefined) closeSync(opened);
  }
}

async function askPs(): Promise<ReadonlyMap<number, Process>> {
  const { stdout } = await promisify(execFile)("ps", ["-axo", "pid=,ppid=,pgid=,rss=,state="]);
  const rows = stdout.trim().split("\n");
  return new Map(
    rows.map((row) => {
      const fields = row.trim().split(/\s+/);
      const [pid = 0, parent = 0, group = 0, kibibytes = 0] = fields.map(Number);
      return [pid, { parent, group, bytes: kibibytes * 1024, isLiving: !endedState.test(fields[4] ?? "") }];
    }),
  );
}
