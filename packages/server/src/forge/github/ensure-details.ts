import { Type } from "typebox";
import type { ForgeSettings } from "../forge-project.ts";
import type { GithubRepository } from "./github-forge.ts";

/** GitHub takes neither when a pull request is opened; both requests add, so repeating them changes nothing. */
export async function ensureDetails(
  { api, path }: GithubRepository,
  settings: ForgeSettings,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const { labels, reviewers, teamReviewers } = settings;
  if (labels.length > 0) {
    const labelsPath = `${path}/issues/${number}/labels`;
    const answer = Type.Array(Type.Unknown());
    await api.call({ method: "POST", path: labelsPath, body: { labels }, answer, what: "set labels" }, signal);
  }
  if (reviewers.length + teamReviewers.length > 0) {
    const body = { reviewers, team_reviewers: teamReviewers };
    const reviewersPath = `${path}/pulls/${number}/requested_reviewers`;
    const answer = Type.Object({});
    await api.call({ method: "POST", path: reviewersPath, body, answer, what: "ask for reviews" }, signal);
  }
}
