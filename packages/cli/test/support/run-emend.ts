import { spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { nodeEnvironment } from "@emend/testkit/server.ts";
import { programOf } from "@emend/testkit/test-programs.ts";
import { afterAll } from "vitest";
import { shellWord } from "../../src/cli.ts";
import { runCli } from "../../src/run-cli.ts";

interface Finished {
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface Running {
  /** Everything printed so far on standard output. */
  stdout(): string;
  /** Resolves once standard output contains the text. */
  untilPrinted(text: string): Promise<void>;
  /** Resolves once standard output matches. */
  untilMatched(isIt: (stdout: string) => boolean): Promise<void>;
  kill(signal: NodeJS.Signals): void;
  finished: Promise<Finished>;
}

const main = programOf(join(import.meta.dirname, "..", "..", "src", "main.ts"));

// A test that fails halfway leaves its program running. No program may outlive the file.
const running = new Set<Running>();
afterAll(async () => {
  for (const program of running) program.kill("SIGTERM");
  await Promise.all([...running].map(({ finished }) => finished));
});

/** Writes the program `emend` into a folder for PATH. */
export async function writeProgram(folder: string): Promise<void> {
  const words = [process.execPath, "--disable-warning=ExperimentalWarning", main].map(shellWord);
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "emend"), `#!/bin/sh\nexec ${words.join(" ")} "$@"\n`, { mode: 0o755 });
}

/** Starts the program as a person would, without the machine's environment. */
export function startEmend(
  args: readonly string[],
  options: { env?: Record<string, string>; cwd?: string; input?: string; isUnprivileged?: boolean } = {},
): Running {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", main, ...args], {
    cwd: options.cwd,
    // Root can read everything.
    ...(options.isUnprivileged && process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}),
    env: {
      ...nodeEnvironment,
      HOME: process.env.HOME,
      TMPDIR: process.env.TMPDIR,
      // The person who runs the tests may be logged in to a server.
      XDG_CONFIG_HOME: join(import.meta.dirname, "nobody"),
      ...options.env,
    },
    stdio: ["pipe", "pipe", "pipe"],
    // For what hangs. A server serves a whole file of tests, which takes nine minutes on a busy machine.
    timeout: 1_200_000,
    killSignal: "SIGTERM",
  });
  let stdout = "";
  let stderr = "";
  const waiting = new Set<() => void>();
  child.stdout.setEncoding("utf8").on("data", (text) => {
    stdout += text;
    for (const wake of waiting) wake();
  });
  child.stderr.setEncoding("utf8").on("data", (text) => {
    stderr += text;
  });
  // If a program exits before it has read its input, that is not an error.
  child.stdin.on("error", () => {});
  child.stdin.end(options.input ?? "");
  const finished = new Promise<Finished>((resolve) => {
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
  const program: Running = {
    stdout: () => stdout,
    untilPrinted: (text) => program.untilMatched((printed) => printed.includes(text)),
    async untilMatched(isIt) {
      while (!isIt(stdout)) {
        let wake = () => {};
        const more = new Promise<"more">((resolve) => {
          wake = () => resolve("more");
          waiting.add(wake);
        });
        const ended = await Promise.race([more, finished]);
        waiting.delete(wake);
        if (ended !== "more" && !isIt(stdout))
          throw new Error(`ended without what was waited for:\n${stdout}\n${stderr}`);
      }
    },
    kill: (signal) => void child.kill(signal),
    finished,
  };
  running.add(program);
  finished.then(() => running.delete(program));
  return program;
}

export function runEmend(...parameters: Parameters<typeof startEmend>): Promise<Finished> {
  return startEmend(...parameters).finished;
}

/** Runs the whole program in this process. Starting a process costs half a second, so only tests that need one do it. */
export async function runInProcess(
  args: readonly string[],
  options: { env?: Record<string, string>; input?: string } = {},
): Promise<Finished> {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()];
  stdin.end(options.input ?? "");
  const code = await runCli(
    {
      env: { PATH: process.env.PATH, HOME: process.env.HOME, XDG_CONFIG_HOME: import.meta.dirname, ...options.env },
      stdin: stdin as unknown as NodeJS.ReadStream,
      stdout: stdout as unknown as NodeJS.WriteStream,
      stderr: stderr as unknown as NodeJS.WriteStream,
      signal: new AbortController().signal,
    },
    args,
  );
  return { code, stdout: textOf(stdout), stderr: textOf(stderr) };
}

function textOf(stream: PassThrough): string {
  return String(stream.read() ?? "");
}
