import { type Static, Type } from "typebox";
import type { Conversation, PullRequestComment } from "../forge.ts";
import { listPages } from "../list-pages.ts";
import { withReviews } from "../reviews.ts";
import type { GithubRepository } from "./github-token.ts";

const User = Type.Union([Type.Object({ login: Type.String() }), Type.Null()]);
const Remark = Type.Object({
  id: Type.Number(),
  user: User,
  body: Type.Optional(Type.String()),
  created_at: Type.String(),
});
const LineComment = Type.Object({
  id: Type.Number(),
  user: User,
  body: Type.String(),
  created_at: Type.String(),
  path: Type.String(),
  pull_request_review_id: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  line: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  original_line: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  side: Type.Optional(Type.Union([Type.String(), Type.Null()])),
});
const Review = Type.Object({
  id: Type.Integer(),
  user: User,
  body: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  state: Type.String(),
  submitted_at: Type.Optional(Type.String()),
});
const pagesMax = 10;
const writers: readonly string[] = ["admin", "maintain", "write"];

/** Submitted reviews only. Others cannot see a pending one. */
export async function listReviews(
  { api, path }: Pick<GithubRepository, "api" | "path">,
  number: number,
  signal: AbortSignal,
): Promise<readonly Static<typeof Review>[]> {
  const reviewsPath = `${path}/pulls/${number}/reviews`;
  const request = {
    path: reviewsPath,
    item: Review,
    sizeName: "per_page",
    pageSize: 100,
    what: "read reviews",
  } as const;
  const reviews = await listPages(api, request, pagesMax, signal);
  return reviews.filter(({ state }) => state !== "PENDING");
}

export function openConversation({ api, path }: GithubRepository): Conversation {
  return {
    async listComments(number, signal) {
      const page = { sizeName: "per_page", pageSize: 100 } as const;
      const remarksPath = `${path}/issues/${number}/comments`;
      const remarks = await listPages(
        api,
        { ...page, path: remarksPath, item: Remark, what: "read comments" },
        pagesMax,
        signal,
      );
      const linesPath = `${path}/pulls/${number}/comments`;
      const lines = await listPages(
        api,
        { ...page, path: linesPath, item: LineComment, what: "read review comments" },
        pagesMax,
        signal,
      );
      const reviews = await listReviews({ api, path }, number, signal);
      return withReviews(
        remarks.map((found) => ({ ...toRemark("c", found), at: found.created_at })),
        reviews.map((found) => ({
          ...toRemark("v", { ...found, body: found.body ?? "" }),
          at: found.submitted_at ?? "",
          lines: lines.filter((line) => line.pull_request_review_id === found.id).map(toLine),
        })),
        lines
          .filter((line) => !reviews.some(({ id }) => id === line.pull_request_review_id))
          .map((line) => ({ ...toLine(line), at: line.created_at })),
      );
    },
    async mayWrite(author, signal) {
      const outcome = await api.ask(
        {
          method: "GET",
          path: `${path}/collaborators/${encodeURIComponent(author)}/permission`,
          answer: Type.Object({ permission: Type.String(), role_name: Type.Optional(Type.String()) }),
          what: "read a person's permissions",
        },
        [404],
        signal,
      );
      return outcome.kind === "ok" && writers.includes(outcome.value.permission) ? "yes" : "no";
    },
    async comment(number, text, signal) {
      const request = { path: `${path}/issues/${number}/comments`, body: { body: text }, what: "comment" };
      await api.call({ ...request, method: "POST", answer: Remark }, signal);
    },
  };
}

/** Comments, reviews and line comments have separate id series. */
function toRemark(kind: string, found: { id: number; user: Static<typeof User>; body?: string }): PullRequestComment {
  return { id: `${kind}${found.id}`, author: found.user?.login ?? "", text: found.body ?? "", path: null, line: null };
}

function toLine(found: Static<typeof LineComment>): PullRequestComment {
  const line = found.line ?? found.original_line ?? null;
  const place = { path: found.path, line, ...(found.side === "LEFT" && { isRemovedLine: true }) };
  return { ...toRemark("r", found), ...place };
}
