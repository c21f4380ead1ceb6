import { type Static, Type } from "typebox";
import type { Conversation, PullRequestComment } from "../forge.ts";
import { listPages } from "../list-pages.ts";
import type { GithubRepository } from "./github-forge.ts";

const User = Type.Union([Type.Object({ login: Type.String() }), Type.Null()]);
const Remark = Type.Object({
  id: Type.Number(),
  user: User,
  body: Type.Optional(Type.String()),
  created_at: Type.String(),
  path: Type.Optional(Type.String()),
  line: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
  original_line: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
});
const pagesMax = 10;
const writers: readonly string[] = ["admin", "maintain", "write"];

export function openConversation({ api, path }: GithubRepository): Conversation {
  const list = (below: string, what: string, signal: AbortSignal) =>
    listPages(
      api,
      { path: `${path}/${below}`, item: Remark, sizeName: "per_page", pageSize: 100, what },
      pagesMax,
      signal,
    );
  return {
    async listComments(number, signal) {
      const remarks = await list(`issues/${number}/comments`, "read comments", signal);
      const reviews = await list(`pulls/${number}/comments`, "read review comments", signal);
      const all = [
        ...remarks.map((remark) => toComment("c", remark)),
        ...reviews.map((found) => toComment("r", found)),
      ];
      return all.sort((left, right) => left.at.localeCompare(right.at)).map(({ at: _, ...comment }) => comment);
    },
    async mayWrite(author, signal) {
      const outcome = await api.ask(
        {
          method: "GET",
          path: `${path}/collaborators/${encodeURIComponent(author)}/permission`,
          answer: Type.Object({ permission: Type.String(), role_name: Type.Optional(Type.String()) }),
          what: "read the rights of a person",
        },
        [404],
        signal,
      );
      if (outcome.kind !== "ok") return false;
      return writers.includes(outcome.value.permission);
    },
    async comment(number, text, signal) {
      const request = { path: `${path}/issues/${number}/comments`, body: { body: text }, what: "comment" };
      await api.call({ ...request, method: "POST", answer: Remark }, signal);
    },
  };
}

/** Remarks and review comments are numbered apart. */
function toComment(kind: "c" | "r", found: Static<typeof Remark>): PullRequestComment & { at: string } {
  return {
    id: `${kind}${found.id}`,
    author: found.user?.login ?? "",
    text: found.body ?? "",
    path: found.path ?? null,
    line: found.line ?? found.original_line ?? null,
    at: found.created_at,
  };
}
