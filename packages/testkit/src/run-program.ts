// Runs programs for tests in a small process of its own. A fork costs as much as its parent's memory is large: a test
// process of 500 MB spent a quarter of its time in them.
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, openSync, readSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

type Environment = Readonly<Record<string, string | undefined>>;

interface Order {
  program: string;
  args: readonly string[];
  env: Environment;
  inputBytes: number;
}

interface Result {
  status: number | null;
  stdout: Buffer;
  stderr: Buffer;
}

const outputMax = 2 ** 30;
let pipes: { orders: number; results: number } | null = null;

/** Like `spawnSync`: blocks until the program has exited. */
export function runProgramSync(
  program: string,
  args: readonly string[],
  { input = "", env = process.env }: { input?: string | Buffer; env?: Environment } = {},
): Result {
  pipes ??= startRunner();
  const bytes = Buffer.from(input);
  send(pipes.orders, { program, args, env, inputBytes: bytes.length } satisfies Order, bytes);
  const answer = receive(pipes.results) as { status: number | null; sizes: [number, number]; error?: string } | null;
  if (answer === null) throw new Error(`the process that runs programs for tests exited during ${program}`);
  const [stdout, stderr] = answer.sizes.map((size) => read(pipes?.results ?? -1, size)) as [Buffer, Buffer];
  if (answer.status === null && answer.error !== undefined)
    throw new Error(`${program} cannot be run: ${answer.error}`);
  return { status: answer.status, stdout, stderr };
}

/** Like `execFile`: throws if the program fails. Use it for programs that ask a server in this process. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { input = "", env = process.env }: { input?: string; env?: Environment } = {},
): Promise<{ stdout: string; stderr: string }> {
  const set = Object.entries(env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  const { startBound } = await import("../../tree/src/git/bound-process.ts");
  const child = startBound({ program, args, env: Object.fromEntries(set) });
  child.stdin.end(input);
  const [stdout, stderr, { code }] = await Promise.all([buffer(child.stdout), buffer(child.stderr), child.ended]);
  const output = { stdout: stdout.toString(), stderr: stderr.toString() };
  if (code === 0) return output;
  throw Object.assign(new Error(`Command failed: ${program} ${args.join(" ")}\n${output.stderr}`), { ...output, code });
}

/** Named pipes, because Node can wait for nothing else without its event loop. */
function startRunner(): { orders: number; results: number } {
  const dir = mkdtempSync(join(tmpdir(), "emend-runner-"));
  const [orders, results] = [join(dir, "orders"), join(dir, "results")];
  spawnSync("mkfifo", [orders, results]);
  spawn(process.execPath, [fileURLToPath(import.meta.url), orders, results], { stdio: "ignore" }).unref();
  const opened = { orders: openSync(orders, "w"), results: openSync(results, "r") };
  rmSync(dir, { recursive: true });
  return opened;
}

function send(pipe: number, header: object, ...bodies: readonly Buffer[]): void {
  const head = Buffer.from(JSON.stringify(header));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  for (const part of [length, head, ...bodies])
    for (let at = 0; at < part.length; ) at += writeSync(pipe, part, at, part.length - at);
}

/** Null: the other side has exited. */
function receive(pipe: number): unknown {
  const length = read(pipe, 4);
  return length.length < 4 ? null : JSON.parse(read(pipe, length.readUInt32LE()).toString());
}

function read(pipe: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let at = 0;
  while (at < size) {
    const count = readSync(pipe, bytes, at, size - at, null);
    if (count === 0) return bytes.subarray(0, at);
    at += count;
  }
  return bytes;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , orderPath = "", resultPath = ""] = process.argv;
  const [orders, results] = [openSync(orderPath, "r"), openSync(resultPath, "w")];
  for (let order = receive(orders) as Order | null; order !== null; order = receive(orders) as Order | null) {
    const input = read(orders, order.inputBytes);
    const { status, stdout, stderr, error } = spawnSync(order.program, order.args, {
      input,
      env: order.env,
      maxBuffer: outputMax,
    });
    const [out, err] = [stdout ?? Buffer.alloc(0), stderr ?? Buffer.alloc(0)];
    send(results, { status, sizes: [out.length, err.length], error: error?.message }, out, err);
  }
}
