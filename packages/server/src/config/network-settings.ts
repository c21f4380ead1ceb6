import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { isIP } from "node:net";
import { resolve } from "node:path";
import type { Network } from "@emend/base/network.ts";
import { type SettingReader, whyUnreadable } from "./setting-reader.ts";

/** An address or name to listen on. A URL or a port in it would fail only at the end of the startup. */
export function readHost(settings: SettingReader): string | null {
  const text = settings.text("EMEND_HOST");
  if (text === null || isHost(text)) return text;
  settings.problems.push(
    `EMEND_HOST must be an address or a host name to listen on, such as 127.0.0.1, 0.0.0.0 or ::, not "${text}"` +
      " (the port is EMEND_PORT, the address for clients EMEND_PUBLIC_URL)",
  );
  return null;
}

function isHost(text: string): boolean {
  if (isIP(text) !== 0) return true;
  // Digits and dots, but not an address: a typo, which a resolver would interpret in its own way.
  return (
    text.length <= 253 &&
    /^[a-z\d]([a-z\d-]*[a-z\d])?(\.[a-z\d]([a-z\d-]*[a-z\d])?)*$/i.test(text) &&
    !/^[\d.]+$/.test(text)
  );
}

export function readPublicUrl({ text: read, problems }: SettingReader): string | null {
  const text = read("EMEND_PUBLIC_URL");
  if (text === null) return null;
  const url = URL.parse(text);
  if (url && /^https?:$/.test(url.protocol) && !url.search && !url.hash && !url.username && !url.password) {
    return url.href.replace(/\/+$/, "");
  }
  const shown = url?.username || url?.password ? "one with credentials" : `"${text}"`;
  problems.push(`EMEND_PUBLIC_URL must be an http or https URL without query, fragment or credentials, not ${shown}`);
  return null;
}

/** `true` trusts every proxy. Otherwise a comma-separated list of addresses, ranges and their usual names. */
export function readTrustProxy(settings: SettingReader): boolean | string {
  const text = settings.text("EMEND_TRUST_PROXY");
  if (text === null || text === "false") return false;
  if (text === "true") return true;
  const parts = text.split(",").map((part) => part.trim());
  if (parts.every(isRange)) return parts.join(",");
  settings.problems.push(
    "EMEND_TRUST_PROXY must be true, false, or the addresses of your proxies such as 10.0.0.0/8,127.0.0.1, " +
      `separated by commas (loopback, linklocal and uniquelocal are names of ranges), not "${text}"`,
  );
  return false;
}

/** Stricter than the library, which reads "1" as the address 0.0.0.1. */
function isRange(text: string): boolean {
  if (["loopback", "linklocal", "uniquelocal"].includes(text)) return true;
  const [address = "", bits, ...rest] = text.split("/");
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128));
}

/** The usual names in both cases. For authorities our own variable, or else Node's. */
export function readNetwork(env: NodeJS.ProcessEnv, problems: string[]): Network {
  const either = (name: string) => env[name.toLowerCase()] || env[name] || undefined;
  const httpsProxy = either("HTTPS_PROXY");
  const httpProxy = either("HTTP_PROXY");
  const noProxy = either("NO_PROXY");
  const caFile = env.EMEND_CA_FILE || env.NODE_EXTRA_CA_CERTS || undefined;
  for (const [name, value] of Object.entries({ HTTPS_PROXY: httpsProxy, HTTP_PROXY: httpProxy })) {
    if (value !== undefined && !/^https?:$/.test(URL.parse(value)?.protocol ?? "")) {
      problems.push(`${name} must be an http or https URL`);
    }
  }
  if (env.EMEND_CA_FILE) checkCertificates(env.EMEND_CA_FILE, problems);
  return {
    ...(httpsProxy && { httpsProxy }),
    ...(httpProxy && { httpProxy }),
    ...(noProxy && { noProxy }),
    ...(caFile && existsSync(caFile) && { caFile: resolve(caFile) }),
  };
}

/** Clients silently trust nobody if the file contains no certificate. */
function checkCertificates(file: string, problems: string[]): void {
  try {
    new X509Certificate(readFileSync(file));
  } catch (error) {
    const isRead = (error as NodeJS.ErrnoException).syscall === undefined;
    const why = isRead ? "which contains no certificate; expected are certificates in PEM" : whyUnreadable(error);
    problems.push(`EMEND_CA_FILE names ${file}, ${why}`);
  }
}
