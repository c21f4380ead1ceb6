import type { DashboardKey } from "@emend/contract";

/** Whether a key is still valid. */
export function isLive({ revokedAt, expiresAt }: Pick<DashboardKey, "revokedAt" | "expiresAt">): boolean {
  return revokedAt === null && (expiresAt === null || Date.parse(expiresAt) > Date.now());
}
