import { Type } from "typebox";
import { wordsOf } from "../api-refusal.ts";
import type { MergeOutcome } from "../forge.ts";
import type { GitlabRepository } from "./merge-requests.ts";

/** Squashing is as the merge request says. */
export async function mergeMergeRequest(
  { api, path }: GitlabRepository,
  { number, commit }: { number: number; commit: string },
  signal: AbortSignal,
): Promise<MergeOutcome> {
  const outcome = await api.ask(
    {
      method: "PUT",
      path: `${path}/merge_requests/${number}/merge`,
      body: { sha: commit },
      answer: Type.Object({ state: Type.String() }),
      what: "merge a merge request",
    },
    [401, 403, 404, 405, 406, 409, 422],
    signal,
  );
  return outcome.kind === "ok" ? { kind: "merged" } : { kind: "refused", words: wordsOf(outcome.body) };
}
