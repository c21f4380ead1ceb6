import { type Static, Type } from "typebox";
import { PageUrl, PullNumber } from "../answer-parts.ts";
import type { CommitStatus, OpenPullRequest, PullRequestCommits } from "../forge.ts";
import type { BitbucketRepository } from "./bitbucket-api.ts";
import { listValues } from "./list-values.ts";

const Place = Type.Object({
  branch: Type.Object({ name: Type.String() }),
  /** Its first twelve digits. Null: a fork that was deleted. */
  commit: Type.Optional(Type.Union([Type.Object({ hash: Type.String() }), Type.Null()])),
  repository: Type.Optional(Type.Union([Type.Object({ full_name: Type.String() }), Type.Null()])),
});
const OpenPull = Type.Object({
  id: PullNumber,
  links: Type.Object({ html: Type.Object({ href: PageUrl }) }),
  title: Type.String(),
  summary: Type.Optional(Type.Object({ raw: Type.Optional(Type.String()) })),
  source: Place,
  destination: Place,
});
const Commit = Type.Object({ hash: Type.String({ pattern: "^[0-9a-f]{40,64}$" }) });
const pagesMax = 4;
const keyMax = 40;

export async function listOpenPullRequests(
  repository: BitbucketRepository,
  signal: AbortSignal,
): Promise<readonly OpenPullRequest[]> {
  const request = {
    path: `${repository.path}/pullrequests`,
    query: { state: "OPEN", sort: "-updated_on" },
    item: OpenPull,
    what: "list pull requests",
  };
  return (await listValues(repository, request, pagesMax, signal)).flatMap(toOpenPull);
}

function toOpenPull({ id, links, title, summary, source, destination }: Static<typeof OpenPull>): OpenPullRequest[] {
  if (!source.commit) return [];
  return [
    {
      number: id,
      url: links.html.href,
      title,
      body: summary?.raw ?? "",
      head: source.branch.name,
      base: destination.branch.name,
      headCommit: source.commit.hash,
      isFork: source.repository?.full_name !== destination.repository?.full_name,
    },
  ];
}

/** A fork's commits are in the fork alone: this repository does not have them. */
export async function readPullRequestCommits(
  { api, path }: BitbucketRepository,
  { base, headCommit }: OpenPullRequest,
  signal: AbortSignal,
): Promise<PullRequestCommits | null> {
  const reading = { method: "GET", answer: Commit, what: "read a commit" } as const;
  const found = await api.ask({ ...reading, path: `${path}/commit/${headCommit}` }, [404], signal);
  if (found.kind !== "ok") return null;
  const head = found.value.hash;
  const spec = encodeURIComponent(`${base}..${head}`);
  const parted = await api.ask({ ...reading, path: `${path}/merge-base/${spec}` }, [404], signal);
  return parted.kind === "ok" ? { head, base: parted.value.hash } : null;
}

/** Bitbucket has no word for neutral: it is a success that says in its words what was found. */
const states = { pending: "INPROGRESS", passed: "SUCCESSFUL", neutral: "SUCCESSFUL", failed: "FAILED" } as const;

export async function setStatus(
  { api, path }: BitbucketRepository,
  { commit, branch, name, state, words, url }: CommitStatus,
  signal: AbortSignal,
): Promise<void> {
  const body = { key: name.slice(0, keyMax), name, state: states[state], description: words, url, refname: branch };
  const request = {
    path: `${path}/commit/${commit}/statuses/build`,
    body,
    answer: Type.Object({}),
    what: "set a commit status",
  };
  await api.call({ ...request, method: "POST" }, signal);
}
