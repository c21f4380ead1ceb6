#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { enableCompileCache } from "node:module";
import { homeOfPerson } from "./user-folders.ts";

const interrupted = new AbortController();
const interrupt = (why: string) => interrupted.abort(new DOMException(why, "AbortError"));
// First of all: as process 1 of a container it would otherwise ignore signals.
let interruptedAtMs = Number.POSITIVE_INFINITY;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // A second signal ends the process immediately. But one Ctrl-C arrives twice: from the terminal and through npm.
    if (performance.now() - interruptedAtMs > 1000) process.exit(130);
    interruptedAtMs = Math.min(interruptedAtMs, performance.now());
    interrupt(`interrupted by ${signal}`);
  });
}
// npx starts a program through a shell, which dies from SIGTERM without passing it on.
if (process.env.npm_command === "exec") {
  const shell = process.ppid;
  setInterval(() => {
    if (process.ppid !== shell) interrupt("npx was stopped");
  }, 250).unref();
}
// A reader may stop early, as `head` does. That is not an error, and the command still cleans up.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    interrupt("its output is no longer read");
  });
}

// Caches compiled modules between runs: most of a short command's time is loading.
enableCompileCache();
const { runCli } = await import("./run-cli.ts");

process.chdir(homeOfPerson(process.env, process.cwd()));
const exitCode = await runCli(
  {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    signal: interrupted.signal,
  },
  process.argv.slice(2),
);
// `check` sets its own code.
process.exitCode = exitCode || process.exitCode;
