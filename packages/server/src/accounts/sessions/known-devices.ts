import { randomUUID } from "node:crypto";
import type { Sealer } from "../secrets.ts";
import { deviceCookie, readDeviceCookie, type Sessions } from "./sessions.ts";

/**
 * A browser that somebody logged in with before. It grants nothing: it only separates its owner from strangers who
 * guess at the same account.
 */
export interface KnownDevice {
  email: string;
  id: string;
}

export interface KnownDevices {
  /** By an earlier login's cookie, or by its session. */
  find(cookieHeader: string | undefined): Promise<KnownDevice | null>;
  /** For a browser in which somebody has just logged in. */
  cookieOf(email: string): string;
}

const context = "known device";
const keptDays = 180;
const dayMs = 86_400_000;

export function createKnownDevices(deps: {
  sealer: Sealer;
  sessions: Pick<Sessions, "find">;
  publicUrl(): string;
  now?: () => number;
}): KnownDevices {
  const now = deps.now ?? Date.now;

  function open(sealed: string | null): KnownDevice | null {
    if (sealed === null) return null;
    try {
      const kept = JSON.parse(deps.sealer.open(Buffer.from(sealed, "base64url"), context));
      return kept.expiresAtMs > now() ? { email: kept.email, id: kept.id } : null;
    } catch {
      // Not encrypted by this installation.
      return null;
    }
  }

  return {
    async find(cookieHeader) {
      const device = open(readDeviceCookie(deps.publicUrl(), cookieHeader));
      if (device) return device;
      const session = await deps.sessions.find(cookieHeader);
      return session?.userId ? { email: session.subject.toLowerCase(), id: session.userId } : null;
    },
    cookieOf(email) {
      const device = { email: email.toLowerCase(), id: randomUUID(), expiresAtMs: now() + keptDays * dayMs };
      const sealed = deps.sealer.seal(JSON.stringify(device), context).toString("base64url");
      return deviceCookie(deps.publicUrl(), sealed, (keptDays * dayMs) / 1000);
    },
  };
}
