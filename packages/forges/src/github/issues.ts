import { type Static, Type } from "typebox";
import { listPages } from "../api-client.ts";
import type { IssueAct, Issues } from "../forge.ts";
import type { GithubRepository } from "./github-token.ts";

const User = Type.Optional(
  Type.Union([Type.Object({ login: Type.String(), type: Type.Optional(Type.String()) }), Type.Null()]),
);
const Issue = Type.Object({
  title: Type.String(),
  body: Type.Optional(Type.Union([Type.String(), Type.Null()])),
  state: Type.String(),
  labels: Type.Array(Type.Union([Type.String(), Type.Object({ name: Type.Optional(Type.String()) })])),
  /** GitHub lists pull requests as issues. */
  pull_request: Type.Optional(Type.Unknown()),
});
const Comment = Type.Object({
  id: Type.Integer(),
  user: User,
  body: Type.Optional(Type.String()),
  created_at: Type.String(),
});
const Event = Type.Object({
  id: Type.Integer(),
  actor: User,
  event: Type.String(),
  created_at: Type.String(),
  label: Type.Optional(Type.Object({ name: Type.String() })),
});
const page = { sizeName: "per_page", pageSize: 100, newest: true } as const;
const pagesMax = 10;

export function openIssues({ api, path }: GithubRepository): Issues {
  return {
    async read(number, signal) {
      const request = { path: `${path}/issues/${number}`, answer: Issue, what: "read an issue" };
      const found = await api.ask({ ...request, method: "GET" }, [301, 404, 410], signal);
      if (found.kind !== "ok" || found.value.pull_request) return null;
      const { title, body, state, labels } = found.value;
      const names = labels.map((label) => (typeof label === "string" ? label : (label.name ?? "")));
      return { title, body: body ?? "", isOpen: state === "open", labels: names };
    },
    async findLabelling(number, label, _since, signal) {
      const request = { path: `${path}/issues/${number}/events`, item: Event, what: "read an issue's events" };
      const events = await listPages(api, { ...page, ...request }, pagesMax, signal);
      const last = events.findLast(
        ({ event, label: set }) => event === "labeled" && set?.name.toLowerCase() === label.toLowerCase(),
      );
      return last ? toAct(last, last.actor) : null;
    },
    async listComments(number, since, signal) {
      const request = { path: `${path}/issues/${number}/comments`, item: Comment, what: "read an issue's comments" };
      const query = { since: since.toISOString() };
      const comments = await listPages(api, { ...page, ...request, query }, pagesMax, signal);
      return comments.map((found) => ({ ...toAct(found, found.user), text: found.body ?? "" }));
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

function toAct({ id, created_at }: { id: number; created_at: string }, user?: Static<typeof User>): IssueAct {
  return { id: String(id), author: user?.login ?? "", isBot: user?.type === "Bot", at: new Date(created_at) };
}
