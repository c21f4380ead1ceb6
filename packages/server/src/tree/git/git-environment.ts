import { AppError } from "../../errors.ts";
import type { Remote } from "../mirror/mirror.ts";

export type GitProtocol = "https" | "http" | "file";

/** What of the network's set-up reaches git; the names are those of the usual variables. */
export interface GitNetwork {
  httpsProxy?: string;
  httpProxy?: string;
  noProxy?: string;
  /** A PEM file with every authority to trust. */
  caFile?: string;
}

/** For repositories nobody vouches for: nothing of the machine's or the user's set-up, and nothing that runs a program. */
const environment = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  // Empty, not unset: else a program that a configuration names would be asked for a password.
  GIT_ASKPASS: "",
  GIT_LFS_SKIP_SMUDGE: "1",
  GIT_PROTOCOL_FROM_USER: "0",
  GIT_NO_LAZY_FETCH: "1",
  // What is shown must be what is merged: no ref may put another object in the place of one.
  GIT_NO_REPLACE_OBJECTS: "1",
  // Without a home curl asks the password file for one, and reads the .netrc in it.
  HOME: "/dev/null",
  // English words, and UTF-8 in regular expressions.
  LC_ALL: "C.UTF-8",
} as const;

/** Given by environment, so that no configuration file can say otherwise. */
const config: readonly (readonly [string, string])[] = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.attributesFile", "/dev/null"],
  ["credential.helper", ""],
  ["safe.bareRepository", "explicit"],
  ["submodule.recurse", "false"],
  ["transfer.fsckObjects", "true"],
  ["protocol.allow", "never"],
  ["protocol.https.allow", "always"],
  ["http.followRedirects", "false"],
  // A far end that stalls is given up before the time cap.
  ["http.lowSpeedLimit", "1"],
  ["http.lowSpeedTime", "60"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  // Paths are bytes: what `init` writes on a Mac would fold their case and recompose them.
  ["core.ignoreCase", "false"],
  ["core.precomposeUnicode", "false"],
];

export function gitEnvironment(options: {
  path: string;
  network: GitNetwork;
  allowedProtocols: readonly GitProtocol[];
  remote?: Remote;
  /** A setting of several values takes them in their order. */
  config?: Readonly<Record<string, string | readonly string[]>>;
}): Record<string, string> {
  const { network, remote } = options;
  const settings = [...config];
  for (const protocol of options.allowedProtocols) settings.push([`protocol.${protocol}.allow`, "always"]);
  if (remote?.authorization) {
    settings.push([`http.${new URL(remote.url).origin}/.extraHeader`, `Authorization: ${remote.authorization}`]);
  }
  if (remote?.addresses) settings.push(["http.curloptResolve", resolutionOf(remote.url, remote.addresses)]);
  for (const [key, values] of Object.entries(options.config ?? {})) {
    for (const value of typeof values === "string" ? [values] : values) settings.push([key, value]);
  }

  const env: Record<string, string> = { ...environment, PATH: options.path };
  if (network.httpsProxy) env.https_proxy = network.httpsProxy;
  if (network.httpProxy) env.http_proxy = network.httpProxy;
  if (network.noProxy) env.no_proxy = network.noProxy;
  if (network.caFile) env.GIT_SSL_CAINFO = network.caFile;
  env.GIT_CONFIG_COUNT = String(settings.length);
  for (const [index, [key, value]] of settings.entries()) {
    env[`GIT_CONFIG_KEY_${index}`] = key;
    env[`GIT_CONFIG_VALUE_${index}`] = value;
  }
  return env;
}

/** As curl takes it. A name that resolves anew, elsewhere, between two requests is never asked again. */
function resolutionOf(remoteUrl: string, addresses: readonly string[]): string {
  const { hostname, port, protocol } = new URL(remoteUrl);
  const list = addresses.map((address) => (address.includes(":") ? `[${address}]` : address));
  return `${hostname}:${port || (protocol === "https:" ? 443 : 80)}:${list.join(",")}`;
}

/** Refuses an address that git must not be sent to, before git sees it. */
export function checkRemote(remote: Remote, allowedProtocols: readonly GitProtocol[]): void {
  if (!URL.canParse(remote.url)) throw refused("its address is not a URL");
  const url = new URL(remote.url);
  const protocol = url.protocol.slice(0, -1);
  if (protocol !== "https" && !allowedProtocols.some((allowed) => allowed === protocol)) {
    throw refused(`its address begins with ${protocol}:, which is not allowed here`);
  }
  if (url.username || url.password) throw refused("its URL contains a credential");
  if (protocol === "file" && remote.authorization) throw refused("a folder cannot have a credential");
  // A line break would add headers of its own.
  if (/[\r\n\0]/.test(remote.authorization ?? "")) throw refused("its credential contains a line break");
}

function refused(why: string): AppError {
  return new AppError("repository_unavailable", { publicMessage: `The repository cannot be reached: ${why}.` });
}
