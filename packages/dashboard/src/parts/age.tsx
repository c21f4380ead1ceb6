import { useEffect, useState } from "react";

const units = [
  { name: "d", ms: 86_400_000 },
  { name: "h", ms: 3_600_000 },
  { name: "min", ms: 60_000 },
] as const;

/** "3 min ago", kept true while it is shown; the exact time on hover. */
export function Age({ at }: { at: string }) {
  const now = useNow();
  return (
    <time dateTime={at} title={new Date(at).toLocaleString()} className="whitespace-nowrap">
      {ageOf(now - Date.parse(at))}
    </time>
  );
}

function ageOf(ms: number): string {
  const unit = units.find((each) => ms >= each.ms);
  return unit ? `${Math.floor(ms / unit.ms)} ${unit.name} ago` : "just now";
}

function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 20_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
