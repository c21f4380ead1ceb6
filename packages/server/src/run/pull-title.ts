import type { LeasedJob } from "../jobs/run/leased-job.ts";
import type { Words } from "./run.ts";

/**
 * A pull request keeps its title, whatever the title of a follow-up's commit, unless the follow-up asks to change it.
 */
export function pullTitleOf(job: Pick<LeasedJob, "continuesBranch" | "title">, words: Words): string {
  return words.pullTitle ?? (job.continuesBranch ? job.title : null) ?? words.title;
}

/** Compared with earlier rounds: a title that a person has set since is not touched. */
export function isRetitled(job: Pick<LeasedJob, "rounds" | "continuesBranch" | "title">, words: Words): boolean {
  const before = job.rounds.at(-1)?.pullTitle ?? null;
  return before !== null && pullTitleOf(job, words) !== before;
}
