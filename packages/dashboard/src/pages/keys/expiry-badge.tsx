import type { DashboardKey } from "@emend/contract";
import { Icon, type IconName } from "../../parts/icon.tsx";

const dayMs = 24 * 60 * 60 * 1000;
const soonDays = 14;

interface Badge {
  words: string;
  colour: string;
  icon?: IconName;
}

export function ExpiryBadge({ apiKey }: { apiKey: Pick<DashboardKey, "expiresAt" | "revokedAt"> }) {
  const { words, colour, icon } = badgeOf(apiKey, Date.now());
  return (
    <span className={`inline-flex items-center gap-1 whitespace-nowrap ${colour}`}>
      {icon && <Icon name={icon} />}
      {words}
    </span>
  );
}

function badgeOf(key: Pick<DashboardKey, "expiresAt" | "revokedAt">, nowMs: number): Badge {
  if (key.revokedAt) return { words: "revoked", colour: "text-quiet" };
  if (!key.expiresAt) return { words: "never expires", colour: "text-quiet" };
  const days = Math.ceil((Date.parse(key.expiresAt) - nowMs) / dayMs);
  if (days <= 0) return { words: "expired", colour: "font-semibold text-bad", icon: "cross" };
  const words = `expires in ${days} ${days === 1 ? "day" : "days"}`;
  if (days > soonDays) return { words, colour: "text-quiet" };
  return { words, colour: "font-semibold text-warn", icon: "warning" };
}
