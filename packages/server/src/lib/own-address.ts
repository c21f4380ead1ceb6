import type { IncomingHttpHeaders } from "node:http";

/**
 * The URL by which a browser reached this server. If the server's own URL is a loopback address (no EMEND_PUBLIC_URL on
 * a laptop), any loopback name and port is accepted: `localhost` for `127.0.0.1`, or a forwarded port. Otherwise it is
 * the public URL: another Host header may be a DNS rebinding attack.
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

/** CSRF: browsers send Origin with every write, and another site cannot forge it. A cookie alone proves nothing. */
export function isFromOwnPage(headers: IncomingHttpHeaders, publicUrl: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "same-origin") return false;
  return headers.origin === new URL(addressUsed(headers, publicUrl)).origin;
}
