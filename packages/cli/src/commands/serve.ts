import { resolve } from "node:path";
import type { Server } from "@emend/server";
import { type Command, Option } from "commander";
import { asTyped, type Cli, CliError, exitCodes, say } from "../cli.ts";
import { modelHint } from "../model-hint.ts";
import { safeText } from "../terminal/format.ts";
import { liveNarrator, silentNarrator } from "../terminal/narrator.ts";
import { parsePort, withData, withJson } from "./options.ts";

interface ServeOptions {
  port?: number;
  host?: string;
  data?: string;
  role?: "all" | "api" | "worker";
  link?: string;
  json?: boolean;
}

/** Runs are released within 25 seconds. The files in `deploy/` allow more than this. */
const stopMsMax = 30_000;

export function registerServe(program: Command, cli: Cli): void {
  const command = program
    .command("serve")
    .description("run the server")
    .option("--port <n>", "port to listen on (default: EMEND_PORT or 4600)", parsePort)
    .option("--host <address>", "address to listen on (default: EMEND_HOST or 127.0.0.1)")
    .addOption(new Option("--role <role>", "what this process does").choices(["all", "api", "worker"]))
    .option("--link <page>", "print a link that logs a browser in and lands on this page");
  withJson(withData(command)).action((options: ServeOptions) => serve(cli, options));
}

async function serve(cli: Cli, options: ServeOptions): Promise<void> {
  const isFriendly = Boolean(cli.stdout.isTTY) && !options.json;
  const narrator = isFriendly ? liveNarrator(cli.stdout) : silentNarrator;
  narrator.begin("starting Emend");
  const { loadConfig, startServer } = await import("@emend/server");
  // On a terminal only warnings are shown. Log lines for every request are for a file.
  const env = isFriendly ? { EMEND_LOG_LEVEL: "warn", ...cli.env } : cli.env;
  const config = loadConfig(env, {
    ...(options.port === undefined ? {} : { port: options.port }),
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.data === undefined ? {} : { dataDir: resolve(options.data) }),
    ...(options.role === undefined ? {} : { role: options.role }),
  });
  // Replaces the live line, which is drawn again below.
  const logTo = { write: (line: string) => void cli.stdout.write(`\r\u001b[2K${logLine(line)}`) };
  const server = await startServer(config, { signal: cli.signal, ...(isFriendly && { logTo }) })
    .catch(rethrowNaming(config.port))
    .finally(narrator.end);
  try {
    if (isFriendly && config.role === "worker") greetWorker(cli);
    else if (isFriendly) await greet(cli, server, options.link);
    else {
      cli.stdout.write(`${JSON.stringify({ event: "ready", url: server.url })}\n`);
      const hint = await modelHint(cli.env);
      if (hint) say(cli, options, `emend: ${hint}`);
      const ownerUrl = config.role === "worker" ? null : await server.admin.ownerLink({ isNew: false });
      if (ownerUrl) cli.stdout.write(`${JSON.stringify({ event: "owner-link", url: ownerUrl })}\n`);
      // Standard output is for a program. A person who starts it through a pipe reads this.
      if (ownerUrl && cli.stderr.isTTY) say(cli, options, `\n  Become its owner      ${ownerUrl}\n`);
      const link = options.link === undefined ? null : await server.admin.createLoginLink(options.link);
      if (link) cli.stdout.write(`${JSON.stringify({ event: "link", url: link })}\n`);
    }
    await interrupted(cli.signal);
  } finally {
    await stopWithin(stopMsMax, server.stop, () => {
      cli.stderr.write(`emend: did not stop within ${stopMsMax / 1000} seconds, ends as it is\n`);
      process.exit(exitCodes.fault);
    });
  }
}

async function greet(cli: Cli, server: Server, page: string | undefined) {
  const hint = await modelHint(cli.env);
  const ownerUrl = await server.admin.ownerLink({ isNew: false });
  cli.stdout.write(
    [
      "",
      `  Emend is ready at ${server.url}`,
      "",
      ...(page === undefined ? [] : [`  Open the page         ${await server.admin.createLoginLink(page)}`]),
      ...(ownerUrl ? [`  Become its owner      ${ownerUrl}`] : []),
      ...(ownerUrl || page !== undefined
        ? []
        : [`  Log this browser in   ${await server.admin.createLoginLink("/app")}`]),
      `  API reference         ${server.url}/reference`,
      ...(server.databaseDir
        ? [`  Its database          ${server.databaseDir}: copy it by \`${asTyped("emend backup")}\``]
        : []),
      ...(hint ? ["", `  ${hint}`] : []),
      "",
      "  Ctrl-C stops it.",
      "",
      "",
    ].join("\n"),
  );
}

function greetWorker(cli: Cli): void {
  cli.stdout.write("\n  This worker is ready and takes jobs from the database. Ctrl-C stops it.\n\n");
}

/** A port that is in use is named, with what to do. */
export function rethrowNaming(port: number): (error: unknown) => never {
  return (error) => {
    const isTaken = error instanceof Error && "code" in error && error.code === "EADDRINUSE";
    if (!isTaken) throw error;
    throw new CliError("refused", `port ${port} is in use; choose another with --port, or 0 for any`, error);
  };
}

function interrupted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}

/**
 * Stops cleanly, or gives up after a time: a part that hangs must not outlast the supervisor's limit. Nothing is lost,
 * because unreleased runs are claimed elsewhere when their leases expire.
 */
export async function stopWithin(msMax: number, stop: () => Promise<void>, giveUp: () => void): Promise<void> {
  const timer = setTimeout(giveUp, msMax);
  await stop().finally(() => clearTimeout(timer));
}

interface Entry {
  level: number;
  time: string;
  msg: string;
  err?: Reason;
}

interface Reason {
  message?: string;
  cause?: Reason;
}

/** A line of the server's log for a person, without stacks, which `--json` and a pipe keep. */
export function logLine(json: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as Entry;
  const known = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const words = [
    new Date(time).toTimeString().slice(0, 8),
    nameOf(level),
    [msg, ...reasonsOf(err)].join(": "),
    ...known,
  ];
  return `  ${safeText(words.join("  "))}\n`;
}

function nameOf(level: number): string {
  if (level >= 50) return "error";
  if (level >= 40) return "warn ";
  return level >= 30 ? "info " : "debug";
}

/** Its message and, if different, its causes'. */
function reasonsOf(reason: Reason | undefined): string[] {
  if (typeof reason?.message !== "string") return [];
  return [...new Set([reason.message, ...reasonsOf(reason.cause)])];
}
