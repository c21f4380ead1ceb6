import type { IncomingHttpHeaders } from "node:http";

/**
 * The address by which a browser reached this server. Where the server's own is a loopback address (no EMEND_PUBLIC_URL on a laptop),
 * it is any loopback name and any port that the browser used: `localhost` for `127.0.0.1`, or the near end of a forwarded
 * port. Else it is the public address: a Host header that names anything else may be a DNS rebinding attack.
 */
export function addressUsed(headers: IncomingHttpHeaders, publicUrl: string): string {
  const own = new URL(publicUrl);
  const used = URL.parse(`http://${headers.host}`);
  if (own.protocol !== "http:" || !used || used.host !== headers.host) return publicUrl;
  if (!isLoopback(own.hostname) || !isLoopback(used.hostname)) return publicUrl;
  return `http://${used.host}${own.pathname === "/" ? "" : own.pathname}`;
}

function isLoopback(hostname: string): boolean {
  return /^(localhost|.+\.localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

/** Browsers send Origin with every write, and another site cannot forge it; a cookie alone proves nothing. */
export function isFromOwnPage(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return false;
  return headers.origin === new URL(addressUsed(headers, publicUrl)).origin;
}
