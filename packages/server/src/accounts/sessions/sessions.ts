import type { Pool } from "../../db/pool.ts";
import { inTransactionAs } from "../../db/transaction.ts";
import { findLink, spendLink } from "../people/login-links.ts";
import { deleteSession, findSession, openSession, type Session, sessionSeconds } from "./session-store.ts";

/** Browser sessions for routes: reads and writes cookies. */
export interface Sessions {
  find(cookieHeader: string | undefined): Promise<Session | null>;
  /**
   * Opens a single-use link. The console's logs the browser in; others ask something first. In both cases the browser
   * continues to `location`.
   */
  claim(
    token: string,
    cookieHeader: string | undefined,
    address?: string,
  ): Promise<
    { kind: "claimed"; location: string; cookie: string } | { kind: "asks"; location: string } | { kind: "gone" }
  >;
  /** Ends the session and returns the cookie that clears it. */
  end(cookieHeader: string | undefined): Promise<string>;
  /** The browser's session token, to be replaced by another. */
  tokenOf(cookieHeader: string | undefined): string | null;
  /** The cookie for a new session. */
  cookieOf(token: string): string;
}

export function createSessions(deps: { pool: Pool; publicUrl(): string }): Sessions {
  const { pool } = deps;
  const tokenOf = (cookieHeader: string | undefined) => readCookie(deps.publicUrl(), cookieHeader);
  const cookieOf = (token: string) => setCookie(deps.publicUrl(), token, sessionSeconds);
  return {
    tokenOf,
    cookieOf,
    async find(cookieHeader) {
      const token = tokenOf(cookieHeader);
      return token === null ? null : findSession(pool, token);
    },
    async claim(token, cookieHeader, address) {
      const publicUrl = deps.publicUrl();
      const asked = { token, address: address ?? null, replaces: tokenOf(cookieHeader) };
      const claimed = await claimLoginLink({ pool }, asked);
      if (claimed.kind === "gone") return claimed;
      // In the fragment, where no log and no proxy sees it.
      if (claimed.kind === "asks") return { kind: "asks", location: `${publicUrl}/app/welcome#${token}` };
      const cookie = cookieOf(claimed.sessionToken);
      return { kind: "claimed", location: `${publicUrl}${claimed.landsOn}`, cookie };
    },
    async end(cookieHeader) {
      const token = tokenOf(cookieHeader);
      if (token !== null) await deleteSession(pool, token);
      return clearCookie(deps.publicUrl());
    },
  };
}

interface CookieShape {
  name: string;
  attributes: string;
}

/**
 * Over https the `__Host-` prefix makes the browser require Secure, no domain and the root path. Browsers refuse that
 * prefix on plain http, which a laptop serves; there the cookie is limited to the base path.
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

/** The session token, if the header has one in the right format. */
export function readCookie(publicUrl: string, header: string | undefined): string | null {
  const token = cookieNamed(shapeOf(publicUrl).name, header);
  return /^[A-Za-z0-9_-]{43}$/.test(token) ? token : null;
}

/** An encrypted cookie that lasts from leaving for the identity provider until coming back. */
export function passingCookie(publicUrl: string, sealed: string, seconds: number): string {
  const { name, attributes } = shapeOf(publicUrl);
  return `${name}-passing=${sealed}; Max-Age=${seconds}; ${attributes}`;
}

export function readPassingCookie(publicUrl: string, header: string | undefined): string | null {
  const name = `${shapeOf(publicUrl).name}-passing`;
  const value = cookieNamed(name, header);
  return /^[A-Za-z0-9_-]{1,3000}$/.test(value) ? value : null;
}

/** An encrypted cookie that names the browser's owner. It outlives the session. */
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

type ClaimedLink =
  | { kind: "claimed"; landsOn: string; sessionToken: string }
  /** It asks something first. Looking at it does not use it up. */
  | { kind: "asks" }
  /** Used, expired or unknown: the same response for all. */
  | { kind: "gone" };

/** Uses a console link and opens its session in one transaction: of two browsers, one succeeds. */
async function claimLoginLink(
  deps: { pool: Pool },
  input: { token: string; address: string | null; replaces: string | null },
): Promise<ClaimedLink> {
  const offered = await findLink(deps.pool, input.token);
  if (!offered) return { kind: "gone" };
  if (offered.purpose !== "login") return { kind: "asks" };
  return inTransactionAs(deps.pool, { name: "console", address: input.address }, async (client) => {
    const link = await spendLink(client, input.token);
    if (link?.purpose !== "login") return { kind: "gone" };
    const session = { userId: null, how: "link", address: input.address, replaces: input.replaces } as const;
    return { kind: "claimed", landsOn: link.landsOn, sessionToken: await openSession(client, session) };
  });
}
