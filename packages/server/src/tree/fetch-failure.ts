import { AppError } from "../errors.ts";
import type { GitResult } from "./git.ts";
import { gitError, httpStatusOf, isDiskFull, isUntrusted } from "./git-words.ts";
import { unreachable } from "./resolve-base.ts";

/** A failure that says by itself what is wrong, and that it is not the mirror; null: look at the mirror. */
export function knownFetchFailure(result: GitResult, packBytesMax: number): AppError | null {
  const { words, stderr } = result;
  if (isDiskFull(stderr)) {
    const publicMessage = "The disk of this machine is full.";
    return new AppError("internal", { publicMessage, retryable: true });
  }
  if (/died of signal 25|File too large/.test(stderr)) {
    const mebibytes = Math.max(1, Math.floor(packBytesMax / 2 ** 20));
    const publicMessage = `The repository is too large: its newest commit takes more than ${mebibytes} MiB.`;
    return new AppError("repository_unavailable", { publicMessage });
  }
  if (/fsck error|error in .* object|hasDot|gitmodules/i.test(stderr)) {
    const what = "The repository contains objects that git considers damaged or hostile, so Emend does not read it.";
    return gitError("repository_unavailable", { what, words });
  }
  if (/not our ref|unadvertised object|couldn't find remote ref/.test(stderr)) {
    const what = "The repository no longer has the commit that this job begins from. Create the job again.";
    return gitError("repository_unavailable", { what, words });
  }
  return httpStatusOf(stderr) === null && !isUntrusted(stderr) ? null : unreachable(result);
}
