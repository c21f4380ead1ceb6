import { isFault } from "@emend/base/fault.ts";
import { type Static, type TSchema, Type } from "typebox";
import type { ApiClient } from "./api-client.ts";
import type { PullRequest, PullRequestChange, PullRequestComment } from "./forge.ts";

interface Repository {
  api: ApiClient;
  /** `/repos/<owner>/<name>`. */
  path: string;
}

/** The calls that GitHub and Gitea have in common, with a schema for each. */
export function pullRequestCalls<T extends TSchema>(
  form: T,
  toPullRequest: (found: Static<T>) => PullRequest,
  draftPrefix = "",
) {
  return {
    async readPullRequest({ api, path }: Repository, number: number, signal: AbortSignal): Promise<PullRequest | null> {
      const request = { path: `${path}/pulls/${number}`, answer: form, what: "read a pull request" };
      const outcome = await api.ask({ ...request, method: "GET" }, [404], signal);
      return outcome.kind === "ok" ? toPullRequest(outcome.value) : null;
    },
    async updatePullRequest(
      { api, path }: Repository,
      number: number,
      { body, title }: PullRequestChange,
      signal: AbortSignal,
    ): Promise<void> {
      const change = { body, ...(title && { title: title.draft ? draftPrefix + title.text : title.text }) };
      const request = { path: `${path}/pulls/${number}`, body: change, answer: form, what: "change a pull request" };
      await api.call({ ...request, method: "PATCH" }, signal);
    },
    async closePullRequest({ api, path }: Repository, number: number, signal: AbortSignal): Promise<void> {
      const what = "close a pull request";
      const request = { path: `${path}/pulls/${number}`, body: { state: "closed" }, answer: form, what };
      await api.call({ ...request, method: "PATCH" }, signal);
    },
  };
}

/** Gitea has it from 1.27 on, after GitHub's. */
export async function replyInThread(
  { api, path }: Repository,
  number: number,
  { comment: { id, thread = id }, text }: { comment: PullRequestComment; text: string },
  signal: AbortSignal,
): Promise<boolean> {
  const repliesPath = `${path}/pulls/${number}/comments/${thread.slice(1)}/replies`;
  const request = { path: repliesPath, body: { body: text }, answer: Type.Object({}), what: "answer a comment" };
  return (await api.ask({ ...request, method: "POST" }, [404], signal)).kind === "ok";
}

type Timed = PullRequestComment & { at: string };

/**
 * All comments and reviews, oldest first. A review includes its line comments. A review that is only a single line
 * comment counts as that comment.
 */
export function withReviews(
  remarks: readonly Timed[],
  reviews: readonly (Timed & { lines: readonly PullRequestComment[] })[],
  /** Line comments that belong to no review. */
  others: readonly Timed[] = [],
): readonly PullRequestComment[] {
  const said = reviews.flatMap((review): Timed[] => {
    const { at, requestsChanges } = review;
    const [only, ...more] = review.lines;
    if (review.text.trim() !== "" || more.length > 0) return [review];
    return only ? [{ ...only, at, ...(requestsChanges && { requestsChanges }) }] : [];
  });
  return [...remarks, ...others, ...said]
    .sort((left, right) => left.at.localeCompare(right.at))
    .map(({ at: _, ...comment }) => comment);
}

/**
 * Tries each, and reports a failure after the last: a token that may not set labels may still request reviews. A failure
 * that may pass comes first, so that the whole is repeated.
 */
export async function tryEach(...steps: readonly (() => Promise<void>)[]): Promise<void> {
  const failures: unknown[] = [];
  for (const step of steps) await step().catch((error: unknown) => failures.push(error));
  const mayPass = failures.find((error) => !isFault(error) || error.retryable);
  if (failures.length > 0) throw mayPass ?? failures[0];
}

export function isAnswered(comments: readonly PullRequestComment[], to: string): boolean {
  return comments.some(({ text, lines = [] }) =>
    [text, ...lines.map((line) => line.text)].some((one) => one.includes(answerMark(to))),
  );
}

/** In an answer: which comment it answers, so that it is not sent twice, even after a crash. */
export function answerMark(to: string): string {
  return `<!-- emend:answer=${to} -->`;
}

/** Neither Emend's own nor a program's. */
export function isOfPerson({ author, text }: PullRequestComment): boolean {
  return !/\[bot\]$/.test(author) && !text.includes("emend:answer=");
}

/** Whether its branch is still at this commit. Bitbucket gives the first twelve digits. */
export function isAtCommit({ headCommit = "" }: Pick<PullRequest, "headCommit">, commit: string): boolean {
  return headCommit !== "" && commit.startsWith(headCommit);
}
