import { type Cli, CliError } from "../cli.ts";
import { readProfiles } from "./profile-file.ts";

const defaultUrl = "http://127.0.0.1:4600";

/** Which server, with which key: the environment's, else the profile's that `EMEND_PROFILE` or `emend profile use` names. */
export function resolveAccess(cli: Cli): { url: string; key: string } {
  const { EMEND_URL: url, EMEND_API_KEY: key, EMEND_PROFILE: wanted } = cli.env;
  if (key) return { url: url || defaultUrl, key };
  const { current, profiles } = readProfiles(cli.env);
  const name = wanted || current;
  const profile = name === null || !Object.hasOwn(profiles, name) ? undefined : profiles[name];
  if (!profile && wanted)
    throw new CliError("usage", `there is no profile ${wanted}; \`emend profile list\` shows them`);
  if (!profile) {
    throw new CliError(
      "usage",
      "EMEND_API_KEY is not set and nobody is logged in; `emend key create --project ID` makes a key, `emend login` keeps it",
    );
  }
  // A key goes to the server that it is for and to no other.
  if (url && new URL(url).href !== new URL(profile.url).href) {
    throw new CliError(
      "usage",
      `EMEND_URL is not the server of profile ${name}; set EMEND_API_KEY too, or unset EMEND_URL`,
    );
  }
  return profile;
}
