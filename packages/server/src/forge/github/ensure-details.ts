import { Type } from "typebox";
import type { ForgeSettings } from "../forge-project.ts";
import { listReviews } from "./conversation.ts";
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
  const approved = reviewers.length > 0 ? await listApprovers({ api, path }, number, signal) : [];
  // Asking somebody who approved asks for their approval anew.
  const asked = reviewers.filter((name) => !approved.includes(name.toLowerCase()));
  if (asked.length + teamReviewers.length > 0) {
    const body = { reviewers: asked, team_reviewers: teamReviewers };
    const reviewersPath = `${path}/pulls/${number}/requested_reviewers`;
    const answer = Type.Object({});
    await api.call({ method: "POST", path: reviewersPath, body, answer, what: "ask for reviews" }, signal);
  }
}

async function listApprovers(
  repository: Pick<GithubRepository, "api" | "path">,
  number: number,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const latest = new Map<string, string>();
  for (const { user, state } of await listReviews(repository, number, signal)) {
    if (user && state !== "COMMENTED") latest.set(user.login.toLowerCase(), state);
  }
  return [...latest].flatMap(([login, state]) => (state === "APPROVED" ? [login] : []));
}
