import { Type } from "typebox";
import { AppError } from "../../errors.ts";
import type { GitlabRepository } from "./gitlab-forge.ts";

const Users = Type.Array(Type.Object({ id: Type.Integer(), username: Type.String() }));

/** GitLab knows reviewers by number alone, so each name is looked up first. The whole list is set: safe to repeat. */
export async function ensureReviewers(
  { api, path, settings }: GitlabRepository,
  number: number,
  signal: AbortSignal,
): Promise<void> {
  const ids: number[] = [];
  const unknown: string[] = [];
  for (const username of settings.reviewers) {
    const request = {
      method: "GET",
      path: "/users",
      query: { username },
      answer: Users,
      what: "look people up",
    } as const;
    const [user] = await api.call(request, signal);
    if (user) ids.push(user.id);
    else unknown.push(username);
  }
  if (ids.length > 0) {
    const request = { path: `${path}/merge_requests/${number}`, body: { reviewer_ids: ids }, what: "ask for reviews" };
    await api.call({ ...request, method: "PUT", answer: Type.Object({}) }, signal);
  }
  if (unknown.length === 0) return;
  throw new AppError("forge_rejected", { publicMessage: `GitLab knows no user named ${unknown.join(", ")}.` });
}
