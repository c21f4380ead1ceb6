import { type Cli, CliError } from "../cli.ts";
import { readProfiles } from "./profile-file.ts";

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
