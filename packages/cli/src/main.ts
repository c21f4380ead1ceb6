#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { homeOfPerson } from "./home-of-person.ts";
import { runCli } from "./run-cli.ts";

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
// Whoever reads our output may stop early, as `head` does; that is no fault.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
}

process.exitCode = await runCli(
  {
    env: process.env,
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    cwd: homeOfPerson(process.env, process.cwd()),
    signal: interrupted.signal,
  },
  process.argv.slice(2),
);
