import { TreeFault } from "../faults.ts";
import type { Remote } from "../mirror/mirror.ts";

export type GitProtocol = "https" | "http" | "file";

/** The network settings that git gets, named like the usual variables. */
export interface GitNetwork {
  httpsProxy?: string;
  httpProxy?: string;
  noProxy?: string;
  /** A PEM file with all trusted authorities. */
  caFile?: string;
}

/** For untrusted repositories: no configuration of the machine or the user, and nothing that runs a program. */
const environment = {
  GIT_CONFIG_NOSYSTEM: "1",
  GIT_CONFIG_GLOBAL: "/dev/null",
  GIT_ATTR_NOSYSTEM: "1",
  GIT_TERMINAL_PROMPT: "0",
  // Empty, not unset: otherwise git would run a configured program to ask for a password.
  GIT_ASKPASS: "",
  GIT_LFS_SKIP_SMUDGE: "1",
  GIT_PROTOCOL_FROM_USER: "0",
  GIT_NO_LAZY_FETCH: "1",
  // What is shown must be what is merged: no replace refs.
  GIT_NO_REPLACE_OBJECTS: "1",
  // Without a home, curl looks it up in the password file and reads its .netrc.
  HOME: "/dev/null",
  // English messages, and UTF-8 in regular expressions. Some releases of macOS have no C.UTF-8.
  LC_ALL: process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8",
} as const;

/** Set through the environment, so that no configuration file can override it. */
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
  // A server that stalls is given up before the time limit.
  ["http.lowSpeedLimit", "1"],
  ["http.lowSpeedTime", "60"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  // Paths are bytes. On a Mac, `init` would enable case folding and Unicode normalization.
  ["core.ignoreCase", "false"],
  ["core.precomposeUnicode", "false"],
];

export function gitEnvironment(options: {
  path: string;
  network: GitNetwork;
  allowedProtocols: readonly GitProtocol[];
  remote?: Remote;
  /** Several values are passed in order. */
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

/** In curl's format. The name is not resolved again, so it cannot change between two requests (DNS rebinding). */
function resolutionOf(remoteUrl: string, addresses: readonly string[]): string {
  const { hostname, port, protocol } = new URL(remoteUrl);
  const list = addresses.map((address) => (address.includes(":") ? `[${address}]` : address));
  return `${hostname}:${port || (protocol === "https:" ? 443 : 80)}:${list.join(",")}`;
}

/** Refuses a URL that git must not contact. */
export function checkRemote(remote: Remote, allowedProtocols: readonly GitProtocol[]): void {
  if (!URL.canParse(remote.url)) throw refused("its address is not a URL");
  const url = new URL(remote.url);
  const protocol = url.protocol.slice(0, -1);
  if (protocol !== "https" && !allowedProtocols.some((allowed) => allowed === protocol)) {
    throw refused(`its address begins with ${protocol}:, which is not allowed here`);
  }
  if (url.username || url.password) throw refused("its URL contains a credential");
  if (protocol === "file" && remote.authorization) throw refused("a folder cannot have a credential");
  // A line break would inject headers.
  if (/[\r\n\0]/.test(remote.authorization ?? "")) throw refused("its credential contains a line break");
}

function refused(why: string): TreeFault {
  return new TreeFault("repository_unavailable", { publicMessage: `The repository cannot be reached: ${why}.` });
}
