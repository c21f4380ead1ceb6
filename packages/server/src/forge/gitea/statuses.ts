import { type Static, Type } from "typebox";
import { PageUrl, PullNumber } from "../answer-parts.ts";
import type { CommitStatus, OpenPullRequest, PullRequestCommits } from "../forge.ts";
import { listPages } from "../list-pages.ts";
import type { GiteaRepository } from "./pull-requests.ts";

const Branch = Type.Object({ label: Type.String(), ref: Type.String(), sha: Type.String(), repo_id: Type.Integer() });
const OpenPull = Type.Object({
  number: PullNumber,
  html_url: PageUrl,
  title: Type.String(),
  body: Type.String(),
  merge_base: Type.String(),
  head: Branch,
  base: Branch,
});
const pagesMax = 6;

export async function listOpenPullRequests(
  { api, path }: GiteaRepository,
  signal: AbortSignal,
): Promise<readonly OpenPullRequest[]> {
  const request = {
    path: `${path}/pulls`,
    query: { state: "open", sort: "recentupdate" },
    item: OpenPull,
    sizeName: "limit",
    pageSize: 50,
    what: "list pull requests",
  } as const;
  return (await listPages(api, request, pagesMax, signal)).map(toOpenPull);
}

function toOpenPull({ number, html_url: url, title, body, head, base }: Static<typeof OpenPull>): OpenPullRequest {
  const isFork = head.repo_id !== base.repo_id;
  // `ref` names another place once the branch is deleted; `label` stays.
  return { number, url, title, body, head: head.label || head.ref, base: base.ref, headCommit: head.sha, isFork };
}

export async function readPullRequestCommits(
  { api, path }: GiteaRepository,
  { number }: OpenPullRequest,
  signal: AbortSignal,
): Promise<PullRequestCommits | null> {
  const request = { path: `${path}/pulls/${number}`, answer: OpenPull, what: "read a pull request" };
  const outcome = await api.ask({ ...request, method: "GET" }, [404], signal);
  if (outcome.kind !== "ok" || outcome.value.merge_base === "" || outcome.value.head.sha === "") return null;
  return { head: outcome.value.head.sha, base: outcome.value.merge_base };
}

/** Gitea's `warning` would block where the status is required, so what must not block is a success. */
const states = { pending: "pending", passed: "success", neutral: "success", failed: "failure" } as const;

export async function setStatus(
  { api, path }: GiteaRepository,
  { commit, name, state, words, url }: CommitStatus,
  signal: AbortSignal,
): Promise<void> {
  const body = { state: states[state], context: name, description: words, target_url: url };
  const request = { path: `${path}/statuses/${commit}`, body, answer: Type.Object({}), what: "set a commit status" };
  await api.call({ ...request, method: "POST" }, signal);
}
