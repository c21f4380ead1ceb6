import { AppError } from "../../errors.ts";
import type { Git } from "./git.ts";

/**
 * 2.38 brought `safe.bareRepository`; configuration by environment (2.31) and `GIT_CONFIG_GLOBAL` (2.32) are older.
 * `GIT_NO_LAZY_FETCH` (2.45, and 2.39.4 in its line) is a second fence only: no mirror has a promisor to fetch from.
 */
const versionLeast = [2, 38] as const;

export async function assertGitVersion(git: Git, signal: AbortSignal): Promise<string> {
  const output = await git.must(
    { gitDir: "/dev/null", args: ["version"], timeMsMax: 10_000, outputBytesMax: 1_000 },
    signal,
  );
  const version = /git version (\S+)/.exec(output.toString())?.[1] ?? "unknown";
  const [major = 0, minor = 0] = version.split(".").map((part) => Number.parseInt(part, 10) || 0);
  const [majorLeast, minorLeast] = versionLeast;
  if (major > majorLeast || (major === majorLeast && minor >= minorLeast)) return version;
  throw new AppError("internal", {
    publicMessage: `git ${version} is too old: install git ${majorLeast}.${minorLeast} or newer.`,
  });
}
