import { Type } from "typebox";
import { refusalAmong, wordsOf } from "../api-refusal.ts";
import type { MergeOutcome } from "../forge.ts";
import type { GiteaRepository } from "./pull-requests.ts";

/** A repository may forbid some of them. Releases before 1.27 call the field `Do`, and accept both. */
const styles = ["squash", "merge", "rebase"] as const;

export async function mergePullRequest(
  { api, path }: GiteaRepository,
  { number, commit }: { number: number; commit: string },
  signal: AbortSignal,
): Promise<MergeOutcome> {
  const words: string[] = [];
  for (const style of styles) {
    const outcome = await api.ask(
      {
        method: "POST",
        path: `${path}/pulls/${number}/merge`,
        body: { do: style, head_commit_id: commit },
        answer: Type.Unknown(),
        what: "merge a pull request",
      },
      [403, 404, 405, 409],
      signal,
    );
    if (outcome.kind === "ok") return { kind: "merged" };
    words.push(wordsOf(outcome.body));
    if (outcome.status !== 405) break;
  }
  return { kind: "refused", words: refusalAmong(words) };
}
