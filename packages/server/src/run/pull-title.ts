import type { LeasedJob } from "../jobs/run/leased-job.ts";
import type { Words } from "./run.ts";

/** A pull request keeps its title, whatever a follow-up calls its own commit, unless it says that this must change too. */
export function pullTitleOf(job: Pick<LeasedJob, "continuesBranch" | "title">, words: Words): string {
  return words.pullTitle ?? (job.continuesBranch ? job.title : null) ?? words.title;
}

/** Told by the rounds before: what a person calls the pull request by now is not touched otherwise. */
export function isRetitled(job: Pick<LeasedJob, "rounds" | "continuesBranch" | "title">, words: Words): boolean {
  const before = job.rounds.at(-1)?.pullTitle ?? null;
  return before !== null && pullTitleOf(job, words) !== before;
}
