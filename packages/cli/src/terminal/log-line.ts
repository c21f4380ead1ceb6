import { safeText } from "./format.ts";

interface Entry {
  level: number;
  time: string;
  msg: string;
  err?: Reason;
}

interface Reason {
  message?: string;
  cause?: Reason;
}

/** A line of the server's log for a person, without stacks, which `--json` and a pipe keep. */
export function logLine(json: string): string {
  const { level, time, msg, err, ...fields } = JSON.parse(json) as Entry;
  const known = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
  );
  const words = [
    new Date(time).toTimeString().slice(0, 8),
    nameOf(level),
    [msg, ...reasonsOf(err)].join(": "),
    ...known,
  ];
  return `  ${safeText(words.join("  "))}\n`;
}

function nameOf(level: number): string {
  if (level >= 50) return "error";
  if (level >= 40) return "warn ";
  return level >= 30 ? "info " : "debug";
}

/** Its message and, if different, its causes'. */
function reasonsOf(reason: Reason | undefined): string[] {
  if (typeof reason?.message !== "string") return [];
  return [...new Set([reason.message, ...reasonsOf(reason.cause)])];
}
