import { Type } from "typebox";
import { listPages } from "../api-client.ts";
import type { IssueAct, Issues } from "../forge.ts";
import type { GitlabRepository } from "./merge-requests.ts";
import { listNotes, Note } from "./notes.ts";

const User = Type.Object({ username: Type.String() });
const Issue = Type.Object({
  title: Type.String(),
  description: Type.Union([Type.String(), Type.Null()]),
  state: Type.String(),
  labels: Type.Array(Type.String()),
  confidential: Type.Optional(Type.Boolean()),
});
const LabelEvent = Type.Object({
  id: Type.Integer(),
  user: Type.Union([User, Type.Null()]),
  created_at: Type.String(),
  label: Type.Union([Type.Object({ name: Type.String() }), Type.Null()]),
  action: Type.String(),
});
const page = { sizeName: "per_page", pageSize: 100, newest: true } as const;
const pagesMax = 10;
/** The users of project and group access tokens. */
const tokenUser = /^(?:project|group)_\d+_bot/;

export function openIssues({ api, path }: GitlabRepository): Issues {
  return {
    async read(number, signal) {
      const request = { path: `${path}/issues/${number}`, answer: Issue, what: "read an issue" };
      const found = await api.ask({ ...request, method: "GET" }, [404], signal);
      // A pull request would show what only members may read.
      if (found.kind !== "ok" || found.value.confidential) return null;
      const { title, description, state, labels } = found.value;
      return { title, body: description ?? "", isOpen: state === "opened", labels };
    },
    async findLabelling(number, label, _since, signal) {
      const eventsPath = `${path}/issues/${number}/resource_label_events`;
      const request = { path: eventsPath, item: LabelEvent, what: "read an issue's labels" };
      const events = await listPages(api, { ...page, ...request }, pagesMax, signal);
      const last = events.findLast(
        ({ action, label: set }) => action === "add" && set?.name.toLowerCase() === label.toLowerCase(),
      );
      return last ? toAct(last, last.user?.username) : null;
    },
    async listComments(number, _since, signal) {
      const notes = await listNotes(
        api,
        { path: `${path}/issues/${number}/notes`, what: "read an issue's comments", activity: "only_comments" },
        signal,
      );
      return notes.map((note) => ({ ...toAct(note, note.author.username), text: note.body }));
    },
    async comment(number, text, signal) {
      const request = { path: `${path}/issues/${number}/notes`, body: { body: text }, what: "comment on an issue" };
      return String((await api.call({ ...request, method: "POST", answer: Note }, signal)).id);
    },
    async editComment(number, id, text, signal) {
      const request = { path: `${path}/issues/${number}/notes/${id}`, body: { body: text }, what: "edit a comment" };
      return (await api.ask({ ...request, method: "PUT", answer: Note }, [404], signal)).kind === "ok";
    },
  };
}

function toAct({ id, created_at }: { id: number; created_at: string }, author = ""): IssueAct {
  return { id: String(id), author, isBot: tokenUser.test(author), at: new Date(created_at) };
}
