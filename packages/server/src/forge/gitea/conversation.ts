import { Type } from "typebox";
import type { ApiClient } from "../api-client.ts";
import type { Conversation, PullRequestComment } from "../forge.ts";
import { listPages } from "../list-pages.ts";
import type { GiteaRepository } from "./gitea-forge.ts";

const User = Type.Union([Type.Object({ login: Type.String() }), Type.Null()]);
const Remark = Type.Object({ id: Type.Integer(), user: User, body: Type.String(), created_at: Type.String() });
const ReviewComment = Type.Object({
  id: Type.Integer(),
  user: User,
  body: Type.String(),
  created_at: Type.String(),
  path: Type.String(),
  position: Type.Optional(Type.Integer()),
});
const Review = Type.Object({ id: Type.Integer(), comments_count: Type.Optional(Type.Integer()) });
const pagesMax = 10;
const writers: readonly string[] = ["owner", "admin", "write"];

export function openConversation({ api, path }: GiteaRepository): Conversation {
  return {
    async listComments(number, signal) {
      const answer = Type.Array(Remark);
      const remarks = await api.call(
        { method: "GET", path: `${path}/issues/${number}/comments`, answer, what: "read comments" },
        signal,
      );
      const all = [
        ...remarks.map((remark) => ({ ...remark, kind: "c", path: null, line: null })),
        ...(await listReviewComments(api, `${path}/pulls/${number}/reviews`, signal)),
      ];
      return all
        .sort((left, right) => left.created_at.localeCompare(right.created_at))
        .map(
          (found): PullRequestComment => ({
            id: `${found.kind}${found.id}`,
            author: found.user?.login ?? "",
            text: found.body,
            path: found.path,
            line: found.line,
          }),
        );
    },
    async mayWrite(author, signal) {
      const outcome = await api.ask(
        {
          method: "GET",
          path: `${path}/collaborators/${encodeURIComponent(author)}/permission`,
          answer: Type.Object({ permission: Type.String() }),
          what: "read the rights of a person",
        },
        [404],
        signal,
      );
      return outcome.kind === "ok" && writers.includes(outcome.value.permission);
    },
    async comment(number, text, signal) {
      const request = { path: `${path}/issues/${number}/comments`, body: { body: text }, what: "comment" };
      await api.call({ ...request, method: "POST", answer: Remark }, signal);
    },
  };
}

/** They hang below the review that they were made in. */
async function listReviewComments(api: ApiClient, path: string, signal: AbortSignal) {
  const what = "read review comments";
  const reviews = await listPages(api, { path, item: Review, sizeName: "limit", pageSize: 50, what }, pagesMax, signal);
  const found = [];
  for (const review of reviews) {
    if (review.comments_count === 0) continue;
    const request = { path: `${path}/${review.id}/comments`, answer: Type.Array(ReviewComment), what };
    for (const comment of await api.call({ ...request, method: "GET" }, signal)) {
      found.push({ ...comment, kind: "r", line: comment.position ?? null });
    }
  }
  return found;
}
