import { Type } from "typebox";
import type { CommitStatus, OpenPullRequest, PullRequestCommits } from "../forge.ts";
import { type AzureDevopsRepository, CommitId, listed } from "./azure-devops-api.ts";

const Comparison = Type.Object({ commonCommit: Type.Union([CommitId, Type.Null()]), targetCommit: CommitId });
const Iteration = Type.Object({
  id: Type.Integer(),
  sourceRefCommit: Type.Optional(Type.Union([Type.Object({ commitId: CommitId }), Type.Null()])),
});
const states = { pending: "pending", passed: "succeeded", neutral: "succeeded", failed: "failed" } as const;
/** In both languages that name a status. */
const genre = "emend";

/** The comparison of the base branch with a commit names where they parted. */
export async function readPullRequestCommits(
  { api, path }: AzureDevopsRepository,
  { base, headCommit }: OpenPullRequest,
  signal: AbortSignal,
): Promise<PullRequestCommits | null> {
  const query = {
    baseVersion: base,
    baseVersionType: "branch",
    targetVersion: headCommit,
    targetVersionType: "commit",
    $top: 1,
  };
  const request = { path: `${path}/diffs/commits`, query, answer: Comparison, what: "compare commits" };
  const outcome = await api.ask({ ...request, method: "GET" }, [400, 404], signal);
  if (outcome.kind !== "ok") return null;
  const { commonCommit, targetCommit } = outcome.value;
  return commonCommit === null ? null : { head: targetCommit, base: commonCommit };
}

/**
 * Sets it on the commit, and on the pull requests whose newest commit it is: their pages and branch policies show only
 * statuses of their own. Azure DevOps keeps each, and the newest of a name counts. It has no word for neutral.
 */
export async function setStatus(
  { api, path }: AzureDevopsRepository,
  { commit, pulls, name, state, words, url }: CommitStatus,
  signal: AbortSignal,
): Promise<string | null> {
  const body = { context: { genre, name }, state: states[state], description: words, targetUrl: url };
  const answer = Type.Object({});
  const what = "set a status";
  await api.call({ method: "POST", path: `${path}/commits/${commit}/statuses`, body, answer, what }, signal);
  const left: number[] = [];
  for (const { number } of pulls) {
    const pullPath = `${path}/pullRequests/${number}`;
    const reading = { path: `${pullPath}/iterations`, answer: listed(Iteration), what };
    const found = await api.ask({ ...reading, method: "GET" }, [404], signal);
    const iterations = found.kind === "ok" ? found.value.value : [];
    // A push makes a new one. A status of an older commit must not be taken for the new one's.
    const iteration = iterations.findLast(({ sourceRefCommit }) => sourceRefCommit?.commitId === commit);
    if (!iteration) {
      left.push(number);
      continue;
    }
    const setting = { path: `${pullPath}/statuses`, body: { ...body, iterationId: iteration.id }, answer, what };
    await api.call({ ...setting, method: "POST" }, signal);
  }
  if (left.length === 0) return null;
  return `Azure DevOps does not know this commit as one of pull request ${left.join(", ")} yet.`;
}
