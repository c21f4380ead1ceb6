import { isIP } from "node:net";
import { mayConnect } from "./public-address.ts";

/** Whether an address can be posted to only under EMEND_ALLOW_PRIVATE_WEBHOOKS, as far as its text tells. */
export function needsPrivate(given: string): boolean {
  const { protocol, hostname } = new URL(given);
  const host = hostname.replace(/^\[|\]$/g, "");
  if (isIP(host)) return protocol === "http:" || !mayConnect(host, { allowPrivate: false });
  return protocol === "http:" || host === "localhost" || host.endsWith(".localhost");
}
