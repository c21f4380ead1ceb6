import { isIP } from "node:net";
import type { ForgeName } from "@emend/contract";
import { type Command, InvalidArgumentError } from "commander";

/** The usual variable of each forge's token. */
export const usualVariables: Readonly<Record<Exclude<ForgeName, "local">, string>> = {
  github: "GITHUB_TOKEN",
  gitlab: "GITLAB_TOKEN",
  gitea: "GITEA_TOKEN",
  bitbucket: "BITBUCKET_TOKEN",
  "azure-devops": "AZURE_DEVOPS_TOKEN",
};
export const forges: readonly string[] = ["local", ...Object.keys(usualVariables)];

/** Options that several commands share: `withJson(withData(command))`. */
export interface AdminOptions {
  data?: string;
  json?: boolean;
}

export function withJson(command: Command): Command {
  return command.option("--json", "print the result as JSON");
}

export function withData(command: Command): Command {
  return command.option("--data <dir>", "the installation's data directory (default: EMEND_DATA_DIR or ~/.emend)");
}

/**
 * Parsers of option values. Their errors are shown with the option's name, and the exit code is that of wrong usage.
 */

export function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError("A port is a whole number from 0 to 65535; 0 takes any free one.");
}

const hoursOf: Readonly<Record<string, number>> = { h: 1, d: 24, w: 168, y: 8760 };
const yearsMax = 10;

/** `12h`, `90d`, `4w`, `1y` from now, or a date, `2027-01-31`, inclusive. */
export function parseExpiry(text: string, nowMs = Date.now()): Date {
  const at = expiryMs(text, nowMs);
  if (at === null)
    throw new InvalidArgumentError("Give a span such as 12h, 90d, 4w or 1y, or a date such as 2027-01-31.");
  if (at <= nowMs) throw new InvalidArgumentError("That is in the past.");
  if (at - nowMs > yearsMax * 8784 * 3_600_000)
    throw new InvalidArgumentError(`That is more than ${yearsMax} years ahead.`);
  return new Date(at);
}

function expiryMs(text: string, nowMs: number): number | null {
  const [, count, unit] = /^(\d{1,6})([hdwy])$/.exec(text) ?? [];
  if (count !== undefined && unit !== undefined) return nowMs + Number(count) * (hoursOf[unit] ?? 0) * 3_600_000;
  const date = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T23:59:59.999Z`) : Number.NaN;
  const isRealDay = !Number.isNaN(date) && new Date(date).toISOString().startsWith(text);
  return isRealDay ? date : null;
}

/** Collects addresses and ranges from one or several `--allow`. */
export function parseRange(text: string, earlier: readonly string[] = []): readonly string[] {
  const [address = "", prefix, ...rest] = text.split("/");
  const bits = isIP(address) === 4 ? 32 : 128;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits);
  if (isIP(address) === 0 || !isPrefix || rest.length > 0) {
    throw new InvalidArgumentError("Give an address or a range such as 203.0.113.7 or 203.0.113.0/24.");
  }
  return [...earlier, text];
}
