import { execFileSync } from "node:child_process";

/**
 * The code that an authenticator app shows, computed by oathtool. `stepsAhead`: of a later time step; each step's code
 * works once.
 */
export function totpCode(key: string, stepsAhead = 0): string {
  const seconds = Math.floor(Date.now() / 1000) + 30 * stepsAhead;
  return execFileSync("oathtool", ["--totp", "--base32", `--now=@${seconds}`, key], { encoding: "utf8" }).trim();
}
