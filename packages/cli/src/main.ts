#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { enableCompileCache } from "node:module";
import { homeOfPerson } from "./home-of-person.ts";

// From here on compiled modules are kept between runs: without it most of a short command's time goes into loading.
enableCompileCache();
const { runCli } = await import("./run-cli.ts");

const interrupted = new AbortController();
let interruptedAtMs = Number.POSITIVE_INFINITY;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    // A second one is from somebody who does not want to wait; but one Ctrl-C arrives twice, from the terminal and
    // passed on by npm.
    if (performance.now() - interruptedAtMs > 1000) process.exit(130);
    if (!interrupted.signal.aborted) interruptedAtMs = performance.now();
    interrupted.abort(new DOMException(`interrupted by ${signal}`, "AbortError"));
  });
}
// Whoever reads our output may stop early, as `head` does. That is no fault, and what runs is still put in order.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
    interrupted.abort(new DOMException("nobody reads the output", "AbortError"));
  });
}

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
