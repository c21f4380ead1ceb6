import { type Static, Type } from "typebox";
import type { Conversation, PullRequestComment } from "../forge.ts";
import { type AzureDevopsRepository, Identity, listed } from "./azure-devops-api.ts";
import { readWriteAccess } from "./write-access.ts";

const Position = Type.Optional(Type.Union([Type.Object({ line: Type.Integer() }), Type.Null()]));
const Comment = Type.Object({
  /** Counted in its thread. */
  id: Type.Integer(),
  content: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  commentType: Type.Optional(Type.String()),
  isDeleted: Type.Optional(Type.Boolean()),
  publishedDate: Type.Optional(Type.String()),
  author: Type.Optional(Type.Union([Identity, Type.Null()])),
});
const Thread = Type.Object({
  id: Type.Integer(),
  isDeleted: Type.Optional(Type.Boolean()),
  comments: Type.Optional(Type.Union([Type.Array(Comment), Type.Null()])),
  threadContext: Type.Optional(
    Type.Union([
      Type.Object({
        filePath: Type.Optional(Type.Union([Type.String(), Type.Null()])),
        leftFileStart: Position,
        rightFileStart: Position,
      }),
      Type.Null(),
    ]),
  ),
});
const commentsMax = 1000;

/** Everything that people say is in threads. Votes and pushes are threads too, which Azure DevOps writes itself. */
export function openConversation(repository: AzureDevopsRepository): Conversation {
  const { api, path } = repository;
  return {
    async listComments(number, signal) {
      const request = { path: `${path}/pullRequests/${number}/threads`, answer: listed(Thread), what: "read comments" };
      const { value } = await api.call({ ...request, method: "GET" }, signal);
      const said = value.flatMap((thread) => commentsOf(number, thread));
      said.sort((left, right) => left.at.localeCompare(right.at));
      return said.slice(-commentsMax).map(({ at: _, ...comment }) => comment);
    },
    mayWrite: (author, signal) => readWriteAccess(repository, author, signal),
    async comment(number, text, signal) {
      const body = { comments: [{ parentCommentId: 0, content: text, commentType: "text" }], status: "closed" };
      const request = { path: `${path}/pullRequests/${number}/threads`, body, answer: Thread, what: "comment" };
      await api.call({ ...request, method: "POST" }, signal);
    },
    async reply(number, { id }, text, signal) {
      const [, thread, comment] = id.split("-");
      const body = { parentCommentId: Number(comment), content: text, commentType: "text" };
      const place = `${path}/pullRequests/${number}/threads/${thread}/comments`;
      const request = { path: place, body, answer: Comment, what: "answer a comment" };
      return (await api.ask({ ...request, method: "POST" }, [404], signal)).kind === "ok";
    },
  };
}

type Timed = PullRequestComment & { at: string };

/** Ids of threads and comments are not unique in a repository, so an id names the pull request and the thread. */
function commentsOf(number: number, { id, isDeleted, comments, threadContext: at }: Static<typeof Thread>): Timed[] {
  if (isDeleted) return [];
  const line = at?.rightFileStart?.line ?? at?.leftFileStart?.line ?? null;
  const isRemovedLine = !at?.rightFileStart && Boolean(at?.leftFileStart);
  const told = (comments ?? []).filter((one) => !one.isDeleted && one.commentType !== "system");
  const [first] = told;
  return told.map((one) => ({
    id: idOf(number, id, one.id),
    author: one.author?.id ?? "",
    ...(one.author?.displayName && one.author.displayName !== one.author.id && { authorName: one.author.displayName }),
    text: one.content ?? "",
    path: at?.filePath?.replace(/^\//, "") ?? null,
    line,
    ...(isRemovedLine && { isRemovedLine }),
    ...(first && first !== one && { thread: idOf(number, id, first.id) }),
    at: one.publishedDate ?? "",
  }));
}

function idOf(number: number, thread: number, comment: number): string {
  return `t${number}-${thread}-${comment}`;
}
