import type { DashboardKey } from "@emend/contract";

/** Whether a key still opens anything. */
export function isLive({ revokedAt, expiresAt }: Pick<DashboardKey, "revokedAt" | "expiresAt">): boolean {
  return revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());
}
