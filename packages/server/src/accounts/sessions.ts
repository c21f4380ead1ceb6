import type { Pool } from "../db/pool.ts";
import { claimLoginLink } from "./claim-login-link.ts";
import { clearCookie, readCookie, setCookie } from "./session-cookie.ts";
import { deleteSession, findSession, type Session, sessionSeconds } from "./session-store.ts";

/** Browser sessions, as a web page's routes need them: cookies in, cookies out. */
export interface Sessions {
  find(cookieHeader: string | undefined): Promise<Session | null>;
  /**
   * Opens a single-use link. The console's logs the browser in; others ask something first. Either way the browser goes
   * on to `location`.
   */
  claim(
    token: string,
    cookieHeader: string | undefined,
    address?: string,
  ): Promise<
    { kind: "claimed"; location: string; cookie: string } | { kind: "asks"; location: string } | { kind: "gone" }
  >;
  /** Ends the session, and returns the cookie that makes the browser forget it. */
  end(cookieHeader: string | undefined): Promise<string>;
  /** The token of the browser's session, to be replaced by another. */
  tokenOf(cookieHeader: string | undefined): string | null;
  /** The cookie that keeps a session that was opened. */
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
      // Behind the #, where no log and no proxy sees it.
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
