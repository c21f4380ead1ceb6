#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { enableCompileCache } from "node:module";
import { homeOfPerson } from "./home-of-person.ts";

const interrupted = new AbortController();
const interrupt = (why: string) => interrupted.abort(new DOMException(why, "AbortError"));
// Before anything is loaded: as the first process of a container it would otherwise not hear a signal.
let interruptedAtMs = Number.POSITIVE_INFINITY;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // A second one is from somebody who does not want to wait; but one Ctrl-C arrives twice, from the terminal and
    // passed on by npm.
    if (performance.now() - interruptedAtMs > 1000) process.exit(130);
    if (!interrupted.signal.aborted) interruptedAtMs = performance.now();
    interrupt(`interrupted by ${signal}`);
  });
}
// npx starts a program through a shell, which dies of SIGTERM without passing it on.
if (process.env.npm_command === "exec") {
  const shell = process.ppid;
  setInterval(() => {
    if (process.ppid !== shell) interrupt("npx was stopped");
  }, 250).unref();
}
// Whoever reads our output may stop early, as `head` does. That is no fault, and what runs is still put in order.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    interrupt("its output is no longer read");
  });
}

// From here on compiled modules are kept between runs: without it most of a short command's time goes into loading.
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
// `check` sets a code of its own.
process.exitCode = exitCode || process.exitCode;
