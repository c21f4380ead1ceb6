import { type Static, Type } from "typebox";
import type { Conversation, PullRequestComment, WriteAccess } from "../forge.ts";
import { listPages } from "../list-pages.ts";
import { withReviews } from "../reviews.ts";
import type { GiteaRepository } from "./pull-requests.ts";

const User = Type.Union([Type.Object({ login: Type.String() }), Type.Null()]);
const Remark = Type.Object({ id: Type.Integer(), user: User, body: Type.String(), created_at: Type.String() });
const LineComment = Type.Object({
  id: Type.Integer(),
  user: User,
  body: Type.String(),
  path: Type.String(),
  position: Type.Optional(Type.Integer()),
  /** For a removed line: its number in the old file. */
  original_position: Type.Optional(Type.Integer()),
});
const Review = Type.Object({
  id: Type.Integer(),
  user: Type.Optional(User),
  body: Type.Optional(Type.String()),
  state: Type.Optional(Type.String()),
  submitted_at: Type.Optional(Type.String()),
  comments_count: Type.Optional(Type.Integer()),
});
const Team = Type.Object({
  name: Type.String(),
  permission: Type.Optional(Type.String()),
  units_map: Type.Optional(Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()])),
});
const pagesMax = 10;
const writers: readonly string[] = ["owner", "admin", "write"];

/** Submitted reviews only: no pending ones and no review requests. */
export async function listReviews({ api, path }: GiteaRepository, number: number, signal: AbortSignal) {
  const reviewsPath = `${path}/pulls/${number}/reviews`;
  const request = { path: reviewsPath, item: Review, sizeName: "limit", pageSize: 50, what: "read reviews" } as const;
  const reviews = await listPages(api, request, pagesMax, signal);
  return reviews.filter(({ state }) => state !== "PENDING" && state !== "REQUEST_REVIEW");
}

export function openConversation(repository: GiteaRepository): Conversation {
  const { api, path } = repository;

  async function linesOf(number: number, review: Static<typeof Review>, signal: AbortSignal) {
    if (review.comments_count === 0) return [];
    const linesPath = `${path}/pulls/${number}/reviews/${review.id}/comments`;
    const answer = Type.Array(LineComment);
    const found = await api.call({ method: "GET", path: linesPath, answer, what: "read review comments" }, signal);
    // Gitea lists them in no order. Ids are in the order of writing.
    return found.toSorted((left, right) => left.id - right.id).map(toLine);
  }

  return {
    async listComments(number, signal) {
      const answer = Type.Array(Remark);
      const remarks = await api.call(
        { method: "GET", path: `${path}/issues/${number}/comments`, answer, what: "read comments" },
        signal,
      );
      const reviews = [];
      for (const review of await listReviews(repository, number, signal)) {
        const said = toRemark("v", { ...review, user: review.user ?? null, body: review.body ?? "" });
        reviews.push({ ...said, at: review.submitted_at ?? "", lines: await linesOf(number, review, signal) });
      }
      return withReviews(
        remarks.map((found) => ({ ...toRemark("c", found), at: found.created_at })),
        reviews,
      );
    },
    mayWrite: (author, signal) => mayWrite(repository, author, signal),
    async comment(number, text, signal) {
      const request = { path: `${path}/issues/${number}/comments`, body: { body: text }, what: "comment" };
      await api.call({ ...request, method: "POST", answer: Remark }, signal);
    },
  };
}

/**
 * Gitea shows a person's permission only to administrators. But every reader can list an issue's possible assignees: in
 * a person's repository these are its writers; in an organization's, its writers and team members. So if every team may
 * write to the code, all assignees may write. Otherwise the permission is unknown.
 */
async function mayWrite({ api, path }: GiteaRepository, author: string, signal: AbortSignal): Promise<WriteAccess> {
  const what = "read a person's permissions";
  const permissionPath = `${path}/collaborators/${encodeURIComponent(author)}/permission`;
  const answer = Type.Object({ permission: Type.String() });
  const told = await api.ask({ method: "GET", path: permissionPath, answer, what }, [403, 404], signal);
  if (told.kind === "ok") return writers.includes(told.value.permission) ? "yes" : "no";
  if (told.status === 404) return "no";
  const people = Type.Array(Type.Object({ login: Type.String() }));
  const assignable = await api.call({ method: "GET", path: `${path}/assignees`, answer: people, what }, signal);
  if (!assignable.some(({ login }) => login.toLowerCase() === author.toLowerCase())) return "no";
  const readers = await teamsThatOnlyRead({ api, path }, signal);
  return readers.length === 0 ? "yes" : "unknown";
}

/** By name. Empty for a person's repository. */
export async function teamsThatOnlyRead(
  { api, path }: Pick<GiteaRepository, "api" | "path">,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const request = { path: `${path}/teams`, answer: Type.Array(Team), what: "read the repository's teams" };
  const teams = await api.ask({ ...request, method: "GET" }, [405], signal);
  if (teams.kind !== "ok") return [];
  return teams.value.filter((team) => !writesCode(team)).map(({ name }) => name);
}

function writesCode({ permission, units_map: units }: Static<typeof Team>): boolean {
  return writers.includes(units?.["repo.code"] ?? permission ?? "");
}

/** Comments, reviews and line comments have separate id series. */
function toRemark(kind: string, found: { id: number; user: Static<typeof User>; body: string }): PullRequestComment {
  return { id: `${kind}${found.id}`, author: found.user?.login ?? "", text: found.body, path: null, line: null };
}

function toLine(found: Static<typeof LineComment>): PullRequestComment {
  const isRemovedLine = !found.position && Boolean(found.original_position);
  const line = (isRemovedLine ? found.original_position : found.position) ?? null;
  return { ...toRemark("r", found), path: found.path, line, ...(isRemovedLine && { isRemovedLine }) };
}
