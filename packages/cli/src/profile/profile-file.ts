import { chmodSync, closeSync, fstatSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { type Cli, CliError } from "../cli.ts";

/** A server and the key for it. */
interface Profile {
  url: string;
  key: string;
}

export interface Profiles {
  /** The current profile's name. */
  current: string | null;
  profiles: Readonly<Record<string, Profile>>;
}

function profileFile(env: NodeJS.ProcessEnv): string {
  return join(env.XDG_CONFIG_HOME || join(env.HOME || homedir(), ".config"), "emend", "profiles.json");
}

/** Reads the file. Refuses one that others can read or that another user owns, because it contains keys. */
export function readProfiles(env: NodeJS.ProcessEnv): Profiles {
  const file = profileFile(env);
  const text = readPrivately(file);
  if (text === null) return { current: null, profiles: {} };
  try {
    const parsed: unknown = JSON.parse(text);
    if (isProfiles(parsed)) return parsed;
  } catch {
    // Reported below, like any other invalid file.
  }
  throw new CliError("usage", `${file} is damaged; remove it and run \`emend login\` again`);
}

/** Written atomically, and never readable by others. */
export function writeProfiles(env: NodeJS.ProcessEnv, profiles: Profiles): string {
  const file = profileFile(env);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const unfinished = `${file}.${process.pid}`;
  writeFileSync(unfinished, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600, flag: "w" });
  // The mode above applies only to a new file.
  chmodSync(unfinished, 0o600);
  renameSync(unfinished, file);
  return file;
}

function readPrivately(file: string): string | null {
  let handle: number;
  try {
    handle = openSync(file, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  try {
    // Of the opened file, not of its name, which may point to another file by now.
    const { mode, uid } = fstatSync(handle);
    if ((mode & 0o077) !== 0) {
      throw new CliError("usage", `${file} holds keys and others can reach it: chmod 600 ${file}`);
    }
    if (uid !== process.getuid?.()) throw new CliError("usage", `${file} belongs to somebody else`);
    return readFileSync(handle, "utf8");
  } finally {
    closeSync(handle);
  }
}

function isProfiles(value: unknown): value is Profiles {
  if (typeof value !== "object" || value === null || !("profiles" in value) || !("current" in value)) return false;
  const { profiles, current } = value;
  if (typeof profiles !== "object" || profiles === null) return false;
  if (current !== null && typeof current !== "string") return false;
  return Object.values(profiles).every(({ url, key }) => typeof url === "string" && typeof key === "string");
}

export const defaultUrl = "http://127.0.0.1:4600";

/** The server, its key, and what messages call them. */
export interface Access {
  url: string;
  key: string;
  urlName: string;
  keyName: string;
}

/** From the environment, or from the profile of `EMEND_PROFILE` or `emend profile use`. */
export function resolveAccess(cli: Cli): Access {
  const { EMEND_URL: url, EMEND_API_KEY: key, EMEND_PROFILE: wanted } = cli.env;
  const given = url ? { url, urlName: valued("EMEND_URL", url) } : { url: defaultUrl, urlName: defaultUrl };
  if (key) return { ...given, key, keyName: "EMEND_API_KEY" };
  const { current, profiles } = readProfiles(cli.env);
  const name = wanted || current;
  const profile = name === null || !Object.hasOwn(profiles, name) ? undefined : profiles[name];
  if (!profile && wanted)
    throw new CliError("usage", `there is no profile ${wanted}; \`emend profile list\` shows them`);
  if (!profile) {
    throw new CliError(
      "usage",
      "EMEND_API_KEY is not set and you are not logged in; `emend key create --project ID` makes a key, `emend login` keeps it",
    );
  }
  const access = { ...profile, urlName: `the address of profile ${name}`, keyName: `the key of profile ${name}` };
  if (!url) return access;
  if (!URL.canParse(url))
    throw new CliError("usage", `${given.urlName} is not a URL; unset it, or give one such as ${defaultUrl}`);
  // A key is only sent to its own server.
  if (URL.parse(url)?.href === URL.parse(profile.url)?.href) return access;
  throw new CliError(
    "usage",
    `${given.urlName} is not the server of profile ${name} (${profile.url}); set EMEND_API_KEY too, or unset EMEND_URL`,
  );
}

/** With its value, so that a typo is visible, unless it contains a password. */
function valued(name: string, value: string): string {
  return value.includes("@") ? name : `${name}=${value}`;
}
