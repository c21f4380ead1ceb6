import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join } from "node:path";
import {
  bind,
  confined,
  findProgram,
  inside,
  programMounts,
  type StartProcess,
  trySandbox,
  watchMemory,
} from "@emend/runners";
import type { Transport } from "@modelcontextprotocol/client";
import { KnowledgeFault } from "./bounded-fetch.ts";

/** A local program that speaks the protocol on its standard input and output, as the operator configured it. */
export interface KnowledgeProgram {
  /** `node` is Emend's own. Other programs are found on the search path, if their place is not named. */
  command: readonly [string, ...string[]];
  /** What it can read beside the system's programs, at the same paths. */
  folders: readonly string[];
  env: Readonly<Record<string, string>>;
}

export interface ProgramDeps {
  start: StartProcess;
  /** The search path for programs. */
  path: string;
}

const messageBytesMax = 4 * 2 ** 20;
const memoryBytesMax = 512 * 2 ** 20;
const processesMax = 64;
/** The sandbox wants to write its status somewhere. */
const script = 'exec 4>/dev/null; ulimit -c 0; exec "$@"';

/** Starts a program in the sandbox: it has no network, writes nothing that stays, and ends with the transport. */
export async function startProgram(
  { start, path }: ProgramDeps,
  { command: [name, ...args], folders, env }: KnowledgeProgram,
  onFault: (fault: KnowledgeFault) => void,
): Promise<Transport> {
  const sandbox = await trySandbox(start, path);
  if (sandbox.kind === "unusable") throw new KnowledgeFault(`needs a sandbox, and ${sandbox.words}`);
  const file = name === "node" ? inside.node : isAbsolute(name) ? name : await findProgram(name, path);
  if (file === null) throw new KnowledgeFault(`needs the program ${name}, which is not installed here`);
  const { ReadBuffer, serializeMessage } = await import("@modelcontextprotocol/client");
  const dir = await realpath(await mkdtemp(join(tmpdir(), "emend-knowledge-")));
  const mounts = [
    ...(file === inside.node ? [] : await programMounts(file)),
    ...folders.flatMap((folder) => bind(folder, folder)),
    ...["--tmpfs", inside.work, "--tmpfs", inside.home],
  ];
  const child = start({
    program: "/bin/sh",
    args: ["-c", script, "sh", ...(await confined({ sandbox, dir, mounts, command: [file, ...args] }))],
    env: { HOME: inside.home, PATH: inside.path, TMPDIR: "/tmp", LANG: "C.UTF-8", ...env },
  });
  let isClosing = false;
  const fail = (words: string) => {
    if (!isClosing) onFault(new KnowledgeFault(words));
    child.stop();
  };
  const stopWatching = watchMemory(child.pid, { memoryBytesMax, processesMax }, (words) => fail(`used ${words}`));
  const gone = child.ended
    .finally(() => {
      stopWatching();
      fail("ended before it answered");
      transport.onclose?.();
    })
    .catch(() => {});
  const buffer = new ReadBuffer({ maxBufferSize: messageBytesMax });
  // Its end is noticed above.
  child.stdin.on("error", () => {});
  child.stderr.resume();

  const transport: Transport = {
    async start() {
      child.stdout.on("data", (chunk: Buffer) => {
        try {
          buffer.append(chunk);
        } catch {
          return fail(`sent more than ${messageBytesMax / 2 ** 20} MiB`);
        }
        for (;;) {
          try {
            const message = buffer.readMessage();
            if (message === null) return;
            transport.onmessage?.(message);
          } catch (error) {
            // Programs print other lines, too.
            transport.onerror?.(error as Error);
          }
        }
      });
    },
    async send(message) {
      child.stdin.write(serializeMessage(message));
    },
    async close() {
      isClosing = true;
      child.stop();
      await gone;
      await rm(dir, { recursive: true, force: true, maxRetries: 3 });
    },
  };
  return transport;
}
