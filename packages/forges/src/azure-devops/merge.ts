import { Type } from "typebox";
import { refusalAmong, wordsOf } from "../api-refusal.ts";
import type { MergeOutcome } from "../forge.ts";
import type { AzureDevopsRepository } from "./azure-devops-api.ts";

const Completing = Type.Object({
  status: Type.String(),
  mergeStatus: Type.Optional(Type.String()),
  mergeFailureMessage: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const failures: Readonly<Record<string, string>> = {
  conflicts: "The base branch has changed the same lines.",
  rejectedByPolicy: "A branch policy is not met.",
  failure: "The merge failed.",
};

/**
 * Completing names the expected commit, without which Azure DevOps refuses. It merges in the background: a pull request
 * that is still active then is on its way. A branch policy may forbid some strategies.
 */
export async function completePullRequest(
  { api, path, settings }: AzureDevopsRepository,
  { number, commit }: { number: number; commit: string },
  signal: AbortSignal,
): Promise<MergeOutcome> {
  const words: string[] = [];
  for (const mergeStrategy of strategiesOf(settings.squash)) {
    const completionOptions = {
      mergeStrategy,
      ...(settings.removeSourceBranch !== null && { deleteSourceBranch: settings.removeSourceBranch }),
    };
    const outcome = await api.ask(
      {
        method: "PATCH",
        path: `${path}/pullrequests/${number}`,
        body: { status: "completed", lastMergeSourceCommit: { commitId: commit }, completionOptions },
        answer: Completing,
        what: "complete a pull request",
      },
      [400, 403, 404, 409],
      signal,
    );
    if (outcome.kind === "refused") {
      words.push(wordsOf(outcome.body));
      if (outcome.status !== 403) break;
      continue;
    }
    const { status, mergeStatus = "", mergeFailureMessage } = outcome.value;
    const failure = status === "completed" ? undefined : failures[mergeStatus];
    if (failure === undefined) return { kind: "merged" };
    return { kind: "refused", words: mergeFailureMessage || failure };
  }
  return { kind: "refused", words: refusalAmong(words) };
}

function strategiesOf(squash: boolean | null): readonly string[] {
  if (squash === null) return ["squash", "noFastForward", "rebase", "rebaseMerge"];
  return squash ? ["squash"] : ["noFastForward", "rebase", "rebaseMerge"];
}
