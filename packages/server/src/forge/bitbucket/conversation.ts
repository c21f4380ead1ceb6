import { type Static, Type } from "typebox";
import { isAppError } from "../../errors.ts";
import type { Conversation, PullRequestComment, WriteAccess } from "../forge.ts";
import { Account, type BitbucketRepository, withComments, withDefinitions } from "./bitbucket-api.ts";
import { listValues } from "./list-values.ts";

const Line = Type.Optional(Type.Union([Type.Integer(), Type.Null()]));
const Comment = Type.Object({
  id: Type.Integer(),
  content: Type.Object({ raw: Type.Optional(Type.String()) }),
  user: Type.Optional(Type.Union([Account, Type.Null()])),
  deleted: Type.Optional(Type.Boolean()),
  /** Of a review that is not sent yet. */
  pending: Type.Optional(Type.Boolean()),
  /** `from` is a line of the old file, `to` one of the new. */
  inline: Type.Optional(Type.Union([Type.Object({ path: Type.String(), from: Line, to: Line }), Type.Null()])),
});
const Permission = Type.Object({ permission: Type.Optional(Type.String()), user: Type.Optional(Account) });
const pagesMax = 20;

/** Bitbucket's reviews have no text of their own: all that is said is in comments. */
export function openConversation(repository: BitbucketRepository): Conversation {
  const { api, path } = repository;
  return {
    async listComments(number, signal) {
      const request = { path: `${path}/pullrequests/${number}/comments`, item: Comment, what: "read comments" };
      const comments = await listValues(repository, request, pagesMax, signal);
      return comments.filter(({ deleted, pending }) => !deleted && !pending).map(toComment);
    },
    mayWrite: (author, signal) => mayWrite(repository, author, signal),
    async comment(number, text, signal) {
      const body = { content: { raw: withDefinitions(text) } };
      const request = { path: `${path}/pullrequests/${number}/comments`, body, what: "comment" };
      await api.call({ ...request, method: "POST", answer: Comment }, signal);
    },
  };
}

/** Who may do more than read is told to administrators of the repository alone, and to no access token. */
async function mayWrite(repository: BitbucketRepository, author: string, signal: AbortSignal): Promise<WriteAccess> {
  const { workspace, slug } = repository;
  const path = `/workspaces/${workspace}/permissions/repositories/${slug}`;
  const request = { path, query: { q: 'permission>"read"' }, item: Permission, what: "read the rights of people" };
  const writers = await listValues(repository, request, pagesMax, signal).catch((error: unknown) => {
    if (isAppError(error, "forge_rejected")) return null;
    throw error;
  });
  if (writers === null) return "unknown";
  const isWriter = writers.some(
    ({ permission, user }) => idOf(user) === author && (permission === "write" || permission === "admin"),
  );
  return author !== "" && isWriter ? "yes" : "no";
}

/** An account's UUID, without its braces. */
function idOf(user: Static<typeof Account> | null | undefined): string {
  return user?.uuid?.replaceAll(/[{}]/g, "") ?? "";
}

function toComment({ id, content, user, inline }: Static<typeof Comment>): PullRequestComment {
  const line = inline?.to ?? inline?.from ?? null;
  const isRemovedLine = !inline?.to && Boolean(inline?.from);
  return {
    id: `c${id}`,
    author: idOf(user),
    ...(user?.display_name && { authorName: user.display_name }),
    text: withComments(content.raw ?? ""),
    path: inline?.path ?? null,
    line,
    ...(isRemovedLine && { isRemovedLine }),
  };
}
