import { type Static, Type } from "typebox";
import { listPages } from "../api-client.ts";
import type { IssueAct, Issues } from "../forge.ts";
import type { GiteaRepository } from "./pull-requests.ts";

const User = Type.Optional(Type.Union([Type.Object({ login: Type.String() }), Type.Null()]));
const Issue = Type.Object({
  title: Type.String(),
  body: Type.String(),
  state: Type.String(),
  labels: Type.Union([Type.Array(Type.Object({ name: Type.String() })), Type.Null()]),
  /** Gitea lists pull requests as issues. */
  pull_request: Type.Optional(Type.Unknown()),
});
const Comment = Type.Object({ id: Type.Integer(), user: User, body: Type.String(), created_at: Type.String() });
const TimelineEntry = Type.Object({
  id: Type.Integer(),
  type: Type.String(),
  user: User,
  /** Of a label: `1` if it was added, empty if it was removed (newIssueLabel in Gitea's models/issues/issue_label.go). */
  body: Type.Optional(Type.String()),
  created_at: Type.String(),
  label: Type.Optional(Type.Union([Type.Object({ name: Type.String() }), Type.Null()])),
});
const pagesMax = 20;

export function openIssues({ api, path }: GiteaRepository): Issues {
  return {
    async read(number, signal) {
      const request = { path: `${path}/issues/${number}`, answer: Issue, what: "read an issue" };
      const found = await api.ask({ ...request, method: "GET" }, [404], signal);
      if (found.kind !== "ok" || found.value.pull_request) return null;
      const { title, body, state, labels } = found.value;
      return { title, body, isOpen: state === "open", labels: (labels ?? []).map(({ name }) => name) };
    },
    async findLabelling(number, label, since, signal) {
      const entries = await listPages(
        api,
        {
          path: `${path}/issues/${number}/timeline`,
          query: { since: since.toISOString() },
          item: TimelineEntry,
          sizeName: "limit",
          pageSize: 50,
          what: "read an issue's timeline",
        },
        pagesMax,
        signal,
      );
      const last = entries.findLast(
        (entry) =>
          entry.type === "label" && entry.body === "1" && entry.label?.name.toLowerCase() === label.toLowerCase(),
      );
      return last ? toAct(last) : null;
    },
    async listComments(number, since, signal) {
      const query = { since: since.toISOString() };
      const request = { path: `${path}/issues/${number}/comments`, query, what: "read an issue's comments" };
      const comments = await api.call({ ...request, method: "GET", answer: Type.Array(Comment) }, signal);
      return comments.map((found) => ({ ...toAct(found), text: found.body }));
    },
    async comment(number, text, signal) {
      const request = { path: `${path}/issues/${number}/comments`, body: { body: text }, what: "comment on an issue" };
      return String((await api.call({ ...request, method: "POST", answer: Comment }, signal)).id);
    },
    async editComment(_number, id, text, signal) {
      const request = { path: `${path}/issues/comments/${id}`, body: { body: text }, what: "edit a comment" };
      return (await api.ask({ ...request, method: "PATCH", answer: Comment }, [404], signal)).kind === "ok";
    },
  };
}

/** Gitea's API does not say which users are programs. */
function toAct(found: { id: number; created_at: string; user?: Static<typeof User> }): IssueAct {
  return { id: String(found.id), author: found.user?.login ?? "", isBot: false, at: new Date(found.created_at) };
}
