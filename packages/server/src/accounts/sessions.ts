import type { Pool } from "../db/pool.ts";
import { claimLoginLink } from "./claim-login-link.ts";
import { clearCookie, readCookie, setCookie } from "./session-cookie.ts";
import { deleteSession, findSession, type Session } from "./session-store.ts";

/** Browser sessions, as a web page's routes need them: cookies in, cookies out. */
export interface Sessions {
  find(cookieHeader: string | undefined): Promise<Session | null>;
  /** Spends a login link. Where it is good, the browser gets a new session and goes on to `location`. */
  claim(
    token: string,
    cookieHeader: string | undefined,
  ): Promise<{ kind: "claimed"; location: string; cookie: string } | { kind: "gone" }>;
  /** Ends the session, and returns the cookie that makes the browser forget it. */
  end(cookieHeader: string | undefined): Promise<string>;
}

export function createSessions(deps: { pool: Pool; publicUrl(): string }): Sessions {
  const { pool } = deps;
  return {
    async find(cookieHeader) {
      const token = readCookie(deps.publicUrl(), cookieHeader);
      return token === null ? null : findSession(pool, token);
    },
    async claim(token, cookieHeader) {
      const publicUrl = deps.publicUrl();
      const claimed = await claimLoginLink({ pool }, { token, replaces: readCookie(publicUrl, cookieHeader) });
      if (claimed.kind === "gone") return claimed;
      const cookie = setCookie(publicUrl, claimed.sessionToken, claimed.sessionSeconds);
      return { kind: "claimed", location: `${publicUrl}${claimed.landsOn}`, cookie };
    },
    async end(cookieHeader) {
      const token = readCookie(deps.publicUrl(), cookieHeader);
      if (token !== null) await deleteSession(pool, token);
      return clearCookie(deps.publicUrl());
    },
  };
}
