interface CookieShape {
  name: string;
  attributes: string;
}

/**
 * Over https the name's prefix makes the browser insist on Secure, the whole host and no domain. Browsers refuse
 * that prefix on plain http, which is what a laptop serves; there the cookie stays below the base path.
 */
function shapeOf(publicUrl: string): CookieShape {
  const { protocol, pathname } = new URL(publicUrl);
  const common = "HttpOnly; SameSite=Lax";
  if (protocol === "https:") return { name: "__Host-emend", attributes: `Path=/; Secure; ${common}` };
  return { name: "emend_session", attributes: `Path=${pathname}; ${common}` };
}

export function setCookie(publicUrl: string, token: string, seconds: number): string {
  const { name, attributes } = shapeOf(publicUrl);
  return `${name}=${token}; Max-Age=${seconds}; ${attributes}`;
}

export function clearCookie(publicUrl: string): string {
  return setCookie(publicUrl, "", 0);
}

/** The session's token, where the header carries one of the right form. */
export function readCookie(publicUrl: string, header: string | undefined): string | null {
  const token = cookieNamed(shapeOf(publicUrl).name, header);
  return /^[A-Za-z0-9_-]{43}$/.test(token) ? token : null;
}

/** Carries something sealed to the identity provider's page and back, in this browser alone. */
export function passingCookie(publicUrl: string, sealed: string, seconds: number): string {
  const { name, attributes } = shapeOf(publicUrl);
  return `${name}-passing=${sealed}; Max-Age=${seconds}; ${attributes}`;
}

export function readPassingCookie(publicUrl: string, header: string | undefined): string | null {
  const name = `${shapeOf(publicUrl).name}-passing`;
  const value = cookieNamed(name, header);
  return /^[A-Za-z0-9_-]{1,3000}$/.test(value) ? value : null;
}

/** Says, sealed, whose browser this is; it outlives the session. */
export function deviceCookie(publicUrl: string, sealed: string, seconds: number): string {
  const { name, attributes } = shapeOf(publicUrl);
  return `${name}-device=${sealed}; Max-Age=${seconds}; ${attributes}`;
}

export function readDeviceCookie(publicUrl: string, header: string | undefined): string | null {
  const value = cookieNamed(`${shapeOf(publicUrl).name}-device`, header);
  return /^[A-Za-z0-9_-]{1,3000}$/.test(value) ? value : null;
}

function cookieNamed(name: string, header: string | undefined): string {
  const pair = header
    ?.split(";")
    .map((text) => text.trim())
    .find((text) => text.startsWith(`${name}=`));
  return pair?.slice(name.length + 1) ?? "";
}
