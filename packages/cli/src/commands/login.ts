import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { EmendError } from "@emend/sdk";
import type { Command } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { readProfiles, writeProfiles } from "../profile/profile-file.ts";
import { defaultUrl } from "../profile/resolve-access.ts";
import { readInput } from "./job-start.ts";
import { clientOf } from "./jobs-of.ts";
import { withJson } from "./options.ts";

interface LoginOptions {
  profile: string;
  json?: boolean;
}

export function registerLogin(program: Command, cli: Cli): void {
  const command = program
    .command("login")
    .description("save a server's address and an API key, read from standard input")
    .argument("[url]", `where the server answers (default: EMEND_URL or ${defaultUrl})`)
    .option("--profile <name>", "the name to keep it under", "default");
  withJson(command).action((url: string | undefined, options: LoginOptions) =>
    login(cli, url ?? (cli.env.EMEND_URL || defaultUrl), options),
  );
}

async function login(cli: Cli, url: string, options: LoginOptions): Promise<void> {
  const key = (await readKey(cli)).trim();
  await assertAccepted(cli, url, key);
  const { profiles } = readProfiles(cli.env);
  const file = writeProfiles(cli.env, {
    current: options.profile,
    profiles: { ...profiles, [options.profile]: { url, key } },
  });
  if (options.json) printResult(cli, options, { profile: options.profile, url, file }, "");
  say(cli, options, `Logged in to ${url} as profile ${options.profile}; the key is in ${file}, for you alone.`);
}

/** Never as an argument, which every process of the machine can read. Hidden on a terminal. */
async function readKey(cli: Cli): Promise<string> {
  if (!cli.stdin.isTTY) return readInput(cli);
  cli.stderr.write("API key: ");
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const terminal = createInterface({ input: cli.stdin, output: nowhere, terminal: true });
  try {
    return await terminal.question("", { signal: cli.signal });
  } finally {
    terminal.close();
    cli.stderr.write("\n");
  }
}

/** No project has this name: a valid key gets 404 and an invalid one 401. */
async function assertAccepted(cli: Cli, url: string, key: string): Promise<void> {
  if (key === "") throw new CliError("usage", "no key was given on standard input");
  try {
    const access = { url, key, urlName: `the address ${url}`, keyName: "the key that was given" };
    await clientOf(access).jobs("-").listPage({ limit: 1, signal: cli.signal });
  } catch (error) {
    if (!(error instanceof EmendError)) throw error;
    if (error.kind === "not_found") return;
    // Nothing was stored yet, so neither a variable nor a profile is the cause.
    if (error.kind === "unauthorized") {
      throw new CliError("refused", `${url} does not take this key: is it whole, and not expired or revoked?`, error);
    }
    throw error;
  }
}
