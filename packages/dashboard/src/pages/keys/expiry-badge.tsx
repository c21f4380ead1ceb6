import type { DashboardKey } from "@emend/contract";

const dayMs = 24 * 60 * 60 * 1000;
const soonDays = 14;

export function ExpiryBadge({ apiKey }: { apiKey: Pick<DashboardKey, "expiresAt" | "revokedAt"> }) {
  const { word, colour } = expiryOf(apiKey, Date.now());
  return <span className={`whitespace-nowrap ${colour}`}>{word}</span>;
}

function expiryOf(key: Pick<DashboardKey, "expiresAt" | "revokedAt">, nowMs: number): { word: string; colour: string } {
  if (key.revokedAt) return { word: "revoked", colour: "text-quiet" };
  if (!key.expiresAt) return { word: "never expires", colour: "text-quiet" };
  const days = Math.ceil((Date.parse(key.expiresAt) - nowMs) / dayMs);
  if (days <= 0) return { word: "expired", colour: "font-semibold text-bad" };
  const word = `expires in ${days} ${days === 1 ? "day" : "days"}`;
  return { word, colour: days <= soonDays ? "font-semibold text-warn" : "text-quiet" };
}
