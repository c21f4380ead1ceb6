import { type Static, Type } from "typebox";
import type { Conversation, PullRequestComment } from "../forge.ts";
import { listPages } from "../list-pages.ts";
import type { GitlabRepository } from "./gitlab-forge.ts";

const Note = Type.Object({
  id: Type.Integer(),
  body: Type.String(),
  system: Type.Boolean(),
  author: Type.Object({ id: Type.Integer(), username: Type.String() }),
  position: Type.Optional(
    Type.Object({
      new_path: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      new_line: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
      old_path: Type.Optional(Type.Union([Type.String(), Type.Null()])),
      old_line: Type.Optional(Type.Union([Type.Integer(), Type.Null()])),
    }),
  ),
});
const pagesMax = 10;
/** Developer. */
const writeLevel = 30;

export function openConversation({ api, path }: GitlabRepository): Conversation {
  return {
    async listComments(number, signal) {
      const notes = await listPages(
        api,
        {
          path: `${path}/merge_requests/${number}/notes`,
          query: { order_by: "created_at", sort: "asc" },
          item: Note,
          sizeName: "per_page",
          pageSize: 100,
          what: "read comments",
        },
        pagesMax,
        signal,
      );
      return notes
        .filter((note) => !note.system)
        .map(({ id, author, body, position }) => ({
          id: `n${id}`,
          author: author.username,
          text: body,
          ...placeOf(position),
        }));
    },
    async mayWrite(author, signal) {
      const members = await listPages(
        api,
        {
          path: `${path}/members/all`,
          query: { query: author },
          item: Type.Object({ username: Type.String(), access_level: Type.Integer(), state: Type.String() }),
          sizeName: "per_page",
          pageSize: 100,
          what: "read the rights of a person",
        },
        pagesMax,
        signal,
      );
      const isWriter = members.some(
        (member) => member.username === author && member.access_level >= writeLevel && member.state === "active",
      );
      return isWriter ? "yes" : "no";
    },
    async comment(number, text, signal) {
      const request = { path: `${path}/merge_requests/${number}/notes`, body: { body: text }, what: "comment" };
      await api.call({ ...request, method: "POST", answer: Note }, signal);
    },
  };
}

/** A line that the change removes has a number in the old file alone. */
function placeOf(
  position: Static<typeof Note>["position"],
): Pick<PullRequestComment, "path" | "line" | "isRemovedLine"> {
  const line = position?.new_line ?? null;
  const oldLine = position?.old_line ?? null;
  if (line === null && oldLine !== null) {
    return { path: position?.old_path ?? position?.new_path ?? null, line: oldLine, isRemovedLine: true };
  }
  return { path: position?.new_path ?? null, line };
}
