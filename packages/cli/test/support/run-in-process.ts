import { PassThrough } from "node:stream";
import { runCli } from "../../src/run-cli.ts";
import type { Finished } from "./run-emend.ts";

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
