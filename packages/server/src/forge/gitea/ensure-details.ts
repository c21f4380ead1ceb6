import { Type } from "typebox";
import { AppError, isAppError } from "../../errors.ts";
import { listPages } from "../list-pages.ts";
import { listReviews } from "./conversation.ts";
import type { GiteaRepository } from "./gitea-forge.ts";

const Label = Type.Object({ id: Type.Integer(), name: Type.String() });
const pagesMax = 10;

/** Every release takes labels by number; both requests add, so repeating them changes nothing. */
export async function ensureDetails(repository: GiteaRepository, number: number, signal: AbortSignal): Promise<void> {
  const { api, path, settings, owner } = repository;
  const { labels, reviewers, teamReviewers } = settings;
  const approved = reviewers.length > 0 ? await listApprovers(repository, number, signal) : [];
  // Asking somebody who approved asks for their approval anew.
  const asked = reviewers.filter((name) => !approved.includes(name.toLowerCase()));
  if (asked.length + teamReviewers.length > 0) {
    const body = { reviewers: asked, team_reviewers: teamReviewers };
    const request = { path: `${path}/pulls/${number}/requested_reviewers`, body, what: "ask for reviews" };
    await api.call({ ...request, method: "POST", answer: Type.Array(Type.Unknown()) }, signal);
  }
  if (labels.length === 0) return;
  const page = { item: Label, sizeName: "limit", pageSize: 50, what: "read labels" } as const;
  const own = await listPages(api, { ...page, path: `${path}/labels` }, pagesMax, signal);
  const isEnough = labels.every((name) => own.some((label) => label.name === name));
  // An organization's labels are for all of its repositories; a person has none, and a token may not be let in.
  const shared = isEnough
    ? []
    : await listPages(api, { ...page, path: `/orgs/${encodeURIComponent(owner)}/labels` }, pagesMax, signal).catch(
        nothing,
      );
  const known = [...own, ...shared.filter(({ name }) => !own.some((label) => label.name === name))];
  const ids = known.filter((label) => labels.includes(label.name)).map((label) => label.id);
  if (ids.length > 0) {
    const request = { path: `${path}/issues/${number}/labels`, body: { labels: ids }, what: "set labels" };
    await api.call({ ...request, method: "POST", answer: Type.Array(Label) }, signal);
  }
  const missing = labels.filter((name) => !known.some((label) => label.name === name));
  if (missing.length === 0) return;
  throw new AppError("forge_rejected", {
    publicMessage: `Neither the repository nor its organization has a label ${missing.join(", ")} that the token may read.`,
  });
}

function nothing(error: unknown): readonly never[] {
  if (isAppError(error, "forge_rejected")) return [];
  throw error;
}

async function listApprovers(repository: GiteaRepository, number: number, signal: AbortSignal) {
  const latest = new Map<string, string>();
  for (const { user, state } of await listReviews(repository, number, signal)) {
    if (user && state && state !== "COMMENT") latest.set(user.login.toLowerCase(), state);
  }
  return [...latest].flatMap(([login, state]) => (state === "APPROVED" ? [login] : []));
}
