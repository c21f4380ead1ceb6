import { AppError } from "../errors.ts";
import { isBranchName } from "../lib/branch-name.ts";
import type { GitResult } from "./git.ts";
import { gitError, gitWords, httpStatusOf, isUntrusted } from "./git-words.ts";
import type { PushOutcome, Remote } from "./mirror.ts";
import type { MirrorContext } from "./mirror-context.ts";
import { checkObjectIds } from "./object-id.ts";
import { resolveBranch, unreachable } from "./resolve-base.ts";

const timeMsMax = 5 * 60_000;

/** Sets a branch to a commit where it is what it is expected to be, and never otherwise. */
export async function pushBranch(
  context: MirrorContext,
  input: { remote: Remote; branch: string; commit: string; expected: string | null },
  signal: AbortSignal,
): Promise<PushOutcome> {
  const { remote, branch, commit, expected } = input;
  checkObjectIds(commit, ...(expected === null ? [] : [expected]));
  if (!isBranchName(branch)) {
    throw new AppError("internal", { publicMessage: `"${branch}" cannot be the name of a branch.` });
  }
  const ref = `refs/heads/${branch}`;
  const lease = `--force-with-lease=${ref}:${expected ?? ""}`;
  const args = ["push", "--porcelain", "--no-verify", "--recurse-submodules=no", lease];
  const result = await context.git.run(
    {
      gitDir: context.place.gitDir,
      args: [...args, "--", remote.url, `${commit}:${ref}`],
      remote,
      // The base may have moved on, and is then none of the tips that the far end names: without asking whether it
      // has the commit, the whole tree would be sent again.
      config: { "push.negotiate": "true" },
      timeMsMax,
      outputBytesMax: 64 * 1024,
    },
    signal,
  );
  const line = answerFor(ref, result);
  if (result.code === 0 && line && line.flag !== "!") return { kind: "pushed" };
  if (!line) return unanswered(result);

  // A refusal may be the echo of an identical push that came first, or of somebody else's commit: the branch tells.
  const found = await resolveBranch(context.git, { remote, branch }, signal);
  if (found === commit) return { kind: "pushed" };
  if (found !== expected) return { kind: "conflict", found };
  return { kind: "rejected", reason: [line.summary, remoteWords(result)].filter(Boolean).join("; ") };
}

/** `<flag>\t<from>:<to>\t<summary>`; null where it did not get that far. */
function answerFor(ref: string, result: GitResult): { flag: string; summary: string } | null {
  for (const line of result.stdout.toString("utf8").split("\n")) {
    const [flag = "", refs = "", summary = ""] = line.split("\t");
    if (refs.endsWith(`:${ref}`)) return { flag, summary: gitWords(summary, []) };
  }
  return null;
}

/** What the forge itself said. */
function remoteWords(result: GitResult): string {
  const lines = result.stderr.split("\n").filter((line) => line.startsWith("remote:"));
  return gitWords(lines.map((line) => line.slice(7)).join("\n"), []);
}

function unanswered(result: GitResult): PushOutcome {
  const status = httpStatusOf(result.stderr);
  if (isUntrusted(result.stderr)) throw unreachable(result);
  if (status === 401 || status === 403) {
    return { kind: "rejected", reason: `the credential may not push to the repository (${result.words})` };
  }
  if (status !== null && status < 500 && status !== 408 && status !== 429) throw unreachable(result);
  const what = "The repository did not say whether it took the branch.";
  throw gitError("forge_unavailable", { what, words: result.words, retryable: true });
}
