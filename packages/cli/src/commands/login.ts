import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { EmendError } from "@emend/sdk";
import type { Command } from "commander";
import { type Cli, CliError, printResult, say } from "../cli.ts";
import { defaultUrl, type Profiles, readProfiles, writeProfiles } from "../profile/profile-file.ts";
import { table } from "../terminal/format.ts";
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
    await clientOf(cli, access).jobs("-").listPage({ limit: 1, signal: cli.signal });
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

interface Options {
  json?: boolean;
}

export function registerProfile(profile: Command, cli: Cli): void {
  withJson(profile.command("list").description("list the servers that you are logged in to")).action(
    (options: Options) => list(cli, options),
  );
  const use = profile.command("use").description("use another profile").argument("<name>", "its name");
  withJson(use).action((name: string, options: Options) => {
    const found = existing(cli, name);
    write(cli, options, { ...found, current: name }, { current: name }, `Profile ${name} is in use.`);
  });
  const remove = profile.command("remove").description("forget a profile and its key").argument("<name>", "its name");
  withJson(remove).action((name: string, options: Options) => {
    const { current, profiles } = existing(cli, name);
    const { [name]: _, ...rest } = profiles;
    const next = current === name ? null : current;
    const state = next === null ? "No profile is active. Run: emend profile use NAME" : `Profile ${next} is in use.`;
    write(
      cli,
      options,
      { current: next, profiles: rest },
      { removed: name, current: next },
      `Forgot profile ${name} and its key. ${state}`,
    );
  });
}

function list(cli: Cli, options: Options): void {
  const { current, profiles } = readProfiles(cli.env);
  // Keys are not shown.
  const shown = Object.entries(profiles).map(([name, { url }]) => ({ name, url, current: name === current }));
  if (shown.length === 0) say(cli, options, "You are not logged in. Run: emend login URL");
  if (shown.length === 0 && !options.json) return;
  const rows = shown.map(({ name, url, current }) => [current ? "*" : "", name, url]);
  printResult(cli, options, shown, table([["", "NAME", "URL"], ...rows]));
}

function existing(cli: Cli, name: string): Profiles {
  const found = readProfiles(cli.env);
  if (Object.hasOwn(found.profiles, name)) return found;
  throw new CliError("refused", `there is no profile ${name}; \`emend profile list\` shows them`);
}

function write(cli: Cli, options: Options, profiles: Profiles, result: unknown, words: string): void {
  writeProfiles(cli.env, profiles);
  if (options.json) printResult(cli, options, result, "");
  say(cli, options, words);
}
