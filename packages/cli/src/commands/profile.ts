import type { Command } from "commander";
import { type Cli, CliError } from "../cli.ts";
import { printResult, say } from "../output.ts";
import { type Profiles, readProfiles, writeProfiles } from "../profile/profile-file.ts";
import { table } from "../terminal/format.ts";
import { withJson } from "./options.ts";

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
