import { Type } from "typebox";
import { AppError } from "../../errors.ts";
import { listPages } from "../list-pages.ts";
import type { GiteaRepository } from "./gitea-forge.ts";

const Label = Type.Object({ id: Type.Integer(), name: Type.String() });
const pagesMax = 10;

/** Every release takes labels by number; both requests add, so repeating them changes nothing. */
export async function ensureDetails(
  { api, path, settings }: GiteaRepository,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const { labels, reviewers, teamReviewers } = settings;
  if (reviewers.length + teamReviewers.length > 0) {
    const body = { reviewers, team_reviewers: teamReviewers };
    const request = { path: `${path}/pulls/${number}/requested_reviewers`, body, what: "ask for reviews" };
    await api.call({ ...request, method: "POST", answer: Type.Array(Type.Unknown()) }, signal);
  }
  if (labels.length === 0) return;
  const known = await listPages(
    api,
    { path: `${path}/labels`, item: Label, sizeName: "limit", pageSize: 50, what: "read labels" },
    pagesMax,
    signal,
  );
  const ids = known.filter((label) => labels.includes(label.name)).map((label) => label.id);
  if (ids.length > 0) {
    const request = { path: `${path}/issues/${number}/labels`, body: { labels: ids }, what: "set labels" };
    await api.call({ ...request, method: "POST", answer: Type.Array(Label) }, signal);
  }
  const missing = labels.filter((name) => !known.some((label) => label.name === name));
  if (missing.length === 0) return;
  throw new AppError("forge_rejected", { publicMessage: `The repository has no label ${missing.join(", ")}.` });
}
