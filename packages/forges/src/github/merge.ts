import { Type } from "typebox";
import { refusalAmong, wordsOf } from "../api-refusal.ts";
import type { MergeOutcome } from "../forge.ts";
import type { GithubRepository } from "./github-token.ts";

/** A repository may forbid some of them. */
const methods = ["squash", "merge", "rebase"] as const;

export async function mergePullRequest(
  { api, path }: GithubRepository,
  { number, commit }: { number: number; commit: string },
  signal: AbortSignal,
): Promise<MergeOutcome> {
  const words: string[] = [];
  for (const method of methods) {
    const outcome = await api.ask(
      {
        method: "PUT",
        path: `${path}/pulls/${number}/merge`,
        body: { sha: commit, merge_method: method },
        answer: Type.Object({ merged: Type.Boolean() }),
        what: "merge a pull request",
      },
      [403, 404, 405, 409, 422],
      signal,
    );
    if (outcome.kind === "ok") return { kind: "merged" };
    words.push(wordsOf(outcome.body));
    // 405 is also the answer for checks and approvals that are missing. Then the other methods say the same.
    if (outcome.status !== 405) break;
  }
  return { kind: "refused", words: refusalAmong(words) };
}
