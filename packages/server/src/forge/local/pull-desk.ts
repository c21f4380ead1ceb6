import type { DashboardPull, DashboardPullFile, JobDiff } from "@emend/contract";
import type { ListedFile } from "@emend/tree";
import type { Queryable } from "../../db/pool.ts";
import { type Actor, asActor } from "../../db/transaction.ts";
import {
  getPullRequest,
  insertComment,
  keepHead,
  type LocalComment,
  type LocalPullRequest,
  type LocalStatus,
  listComments,
  listStatuses,
  markClosed,
  markMerged,
  markReady,
  noteMerge,
  refreshLocalPullRequest,
  saveCompared,
} from "./pull-requests.ts";
import {
  askReviewer,
  listViewed,
  type Reviews,
  readReviews,
  removeReview,
  saveReview,
  setViewed,
  showReviews,
} from "./pull-reviews.ts";
import { pullVerdict } from "./pull-verdict.ts";
import {
  isAncestor,
  listCommits,
  type Mergeability,
  type PullRequestDiff,
  readDiff,
  readFileAt,
  readMergeability,
} from "./read-diff.ts";
import { ask, gitOutput, type LocalForgeDeps, type Repository, repositoryOf } from "./repository.ts";

export interface PullName {
  projectId: string;
  number: number;
}

/** What people can do with the local forge's pull requests. The caller has checked their permission. */
interface PullDesk {
  has(name: PullName): Promise<boolean>;
  /** Null if it does not exist. */
  read(name: PullName, reader: string): Promise<ShownPull | null>;
  /** A file as the pull request leaves it. Null if it does not exist or is too large to show. */
  readFile(name: PullName, path: string): Promise<DashboardPullFile | null>;
  merge(name: PullName, input: MergeWish & { headExpected: string | null; by: Actor }): Promise<MergeOutcome>;
  /** False if it does not exist. Closing a closed one changes nothing. */
  close(name: PullName, by: Actor): Promise<boolean>;
  markReady(name: PullName): Promise<boolean>;
  comment(name: PullName, input: { author: string; text: string; requestsChanges?: boolean }): Promise<boolean>;
  /** Approves the commit that the person read, or requests changes. */
  review(name: PullName, input: { head: string; verdict: Verdict; by: string }): Promise<ReviewOutcome>;
  /** Asks a member to review. `isWanted` false: takes it back, and a review that they gave with it. */
  setReviewer(name: PullName, input: { reviewer: string; isWanted: boolean }): Promise<ReviewOutcome>;
  /** Notes for one person which files they have viewed. False if the pull request does not exist. */
  setViewed(name: PullName, input: { viewer: string; path: string; isViewed: boolean }): Promise<boolean>;
}

type ShownPull = Omit<DashboardPull, "jobId" | "pictures" | "ask" | "threads" | "findings">;
type Verdict = "approved" | "changes_requested";
type ReviewOutcome = { kind: "done" } | { kind: "refused"; reason: string } | { kind: "not_found" };

export function createPullDesk(deps: LocalForgeDeps & { signal: AbortSignal }): PullDesk {
  const db = deps.pool;

  const find = ({ projectId, number }: PullName) => getPullRequest(db, projectId, number);

  return {
    has: async (name) => (await find(name)) !== null,

    async read(name, reader) {
      const { projectId, number } = name;
      if (!(await find(name))) return null;
      const repository = repositoryOf(deps, projectId);
      const view = await readPullView({ db, repository }, projectId, number, deps.signal);
      const cloneUrl = `${deps.publicUrl()}/git/${projectId}.git`;
      if (!view) return null;
      const comments = await listComments(db, projectId, number);
      const statuses = await listStatuses(db, projectId, view.pullRequest.headCommit);
      const reviews = await readReviews(db, name);
      const { baseCommit: base, headCommit: head } = view.pullRequest;
      const commits = await listCommits(repository, { base, head }, deps.signal);
      const viewed = await listViewed(db, name, reader, view.diff.files);
      return showPull(view, { projectId, cloneUrl, comments, statuses, reviews, commits, viewed });
    },

    async readFile(name, path) {
      const stored = await find(name);
      if (!stored) return null;
      const repository = repositoryOf(deps, name.projectId);
      // With its current head, which an edit of this file must name.
      if (stored.state === "open")
        await refreshLocalPullRequest({ db, repository }, name.projectId, stored, deps.signal);
      const pullRequest = (await find(name)) ?? stored;
      const text = await readFileAt(repository, pullRequest.headCommit, path, deps.signal);
      return text === null ? null : { text, head: pullRequest.headCommit };
    },

    async merge(name, { by, ...wish }) {
      if (!(await find(name))) return { kind: "not_found" };
      const repository = repositoryOf(deps, name.projectId);
      const request = { ...name, ...wish, by: by.name };
      return mergePullRequest({ db: asActor(deps.pool, by), repository }, request, deps.signal);
    },

    async close(name, by) {
      if (!(await find(name))) return false;
      await markClosed(asActor(deps.pool, by), name.projectId, name.number);
      return true;
    },

    async markReady(name) {
      if (!(await find(name))) return false;
      await markReady(db, name.projectId, name.number);
      return true;
    },

    async comment(name, { text, ...input }) {
      if (!(await find(name))) return false;
      await insertComment(db, { ...name, ...input, body: text });
      return true;
    },

    async review(name, { head, verdict, by }) {
      const stored = await find(name);
      if (!stored) return { kind: "not_found" };
      const repository = repositoryOf(deps, name.projectId);
      if (stored.state === "open")
        await refreshLocalPullRequest({ db, repository }, name.projectId, stored, deps.signal);
      const { state, headCommit } = (await find(name)) ?? stored;
      if (state !== "open") return refuse(`This pull request is ${state}.`);
      if (headCommit !== head) {
        return refuse("The branch changed since you opened this page. Read the new commits, then review them.");
      }
      if (verdict === "approved") {
        const { output } = await ask(repository, ["log", "--format=%ae", head, `^${stored.baseCommit}`], deps.signal);
        if (output.toLowerCase().split("\n").includes(by.toLowerCase())) {
          return refuse("You wrote commits of this pull request. Somebody else must approve it.");
        }
      }
      await saveReview(db, name, { reviewer: by, verdict, head });
      return { kind: "done" };
    },

    async setReviewer(name, { reviewer, isWanted }) {
      const stored = await find(name);
      if (!stored) return { kind: "not_found" };
      if (stored.state !== "open") return refuse(`This pull request is ${stored.state}.`);
      if (!isWanted) {
        return (await removeReview(db, name, reviewer)) ? { kind: "done" } : refuse("This review is gone already.");
      }
      const isAsked = await askReviewer(db, name, reviewer);
      return isAsked ? { kind: "done" } : refuse("Only members with the role maintainer or owner can review.");
    },

    async setViewed(name, input) {
      const stored = await find(name);
      if (!stored) return false;
      const repository = repositoryOf(deps, name.projectId);
      await setViewed({ db, repository }, name, { ...input, head: stored.headCommit }, deps.signal);
      return true;
    },
  };
}

/** A pull request as the dashboard shows it. */
function showPull(
  { pullRequest, mergeability, diff }: PullState,
  more: {
    projectId: string;
    cloneUrl: string;
    comments: readonly LocalComment[];
    statuses: readonly LocalStatus[];
    reviews: Reviews;
    commits: DashboardPull["commits"];
    viewed: readonly string[];
  },
): ShownPull {
  const { number, title, state, draft, headRef, baseRef, headCommit, checks, mergedBy, mergeCommit } = pullRequest;
  const shown = {
    mergeability: showMergeability(mergeability),
    statuses: more.statuses.map(({ name, state, words, url }) => ({ name, state, words, url })),
    reviews: showReviews(more.reviews, headCommit),
    approvalsMin: more.reviews.approvalsMin,
  };
  return {
    ...shown,
    verdict: pullVerdict({ ...shown, state, draft, checks, requiredStatus: more.reviews.requiredStatus }),
    projectId: more.projectId,
    number,
    title,
    state,
    draft,
    headRef,
    baseRef,
    headCommit,
    checks,
    mergedBy,
    mergeCommit,
    body: hideMarks(pullRequest.body),
    createdAt: pullRequest.createdAt.toISOString(),
    updatedAt: pullRequest.updatedAt.toISOString(),
    diff: { diff: diff.patch, files: diff.files.map(showFile) },
    filesLeftOut: diff.filesLeftOut,
    cloneUrl: more.cloneUrl,
    commits: more.commits,
    viewed: more.viewed,
    comments: more.comments.map(({ id, author, body, createdAt }) => ({
      id,
      author,
      text: hideMarks(body),
      at: createdAt.toISOString(),
    })),
  };
}

function showMergeability(found: Mergeability): DashboardPull["mergeability"] {
  switch (found.kind) {
    case "clean":
      return { kind: "clean", head: found.head };
    case "contained":
      return { kind: "contained" };
    default:
      return found;
  }
}

function showFile({ path, pathBefore, status, added, deleted }: ListedFile): JobDiff["files"][number] {
  const change = status === "copied" ? "added" : status === "type" ? "modified" : status;
  const from = status === "renamed" && pathBefore !== null ? { from: pathBefore } : {};
  return { path, change, additions: added ?? 0, deletions: deleted ?? 0, ...from };
}

type MergeOutcome =
  | { kind: "merged" }
  /** With a message for the user. */
  | { kind: "refused"; reason: string }
  | { kind: "not_found" };

/** How to merge, where it is said. */
interface MergeWish {
  /** One commit on the base branch instead of a merge commit. */
  squash?: boolean;
  /** The head branch goes once it is merged. Its commits stay with the pull request. */
  removeBranch?: boolean;
}

interface MergeRequest extends MergeWish {
  projectId: string;
  number: number;
  /** The commit that the person reviewed. Null: any. */
  headExpected: string | null;
  by: string;
}

/** The base may move while the merge is built. Then it is built again. */
const attemptsMax = 5;
const identity = { "user.name": "Emend", "user.email": "noreply@emend.invalid" };

/**
 * Builds the merge commit without a work tree, and moves the base branch with a compare-and-swap. The row is updated
 * afterwards; after a crash between the two, `refreshLocalPullRequest` repairs it.
 */
export async function mergePullRequest(
  deps: { db: Queryable; repository: Repository },
  request: MergeRequest,
  signal: AbortSignal,
): Promise<MergeOutcome> {
  const { db, repository } = deps;
  const { projectId, number } = request;
  const pullRequest = await getPullRequest(db, projectId, number);
  if (!pullRequest) return { kind: "not_found" };
  if (pullRequest.state === "merged") return { kind: "merged" };
  if (pullRequest.state === "closed") return refuse("This pull request is closed.");

  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const found = await readMergeability(repository, { base: pullRequest.baseRef, head: pullRequest.headRef }, signal);
    const statuses = "head" in found ? await listStatuses(db, projectId, found.head) : [];
    const said = await readReviews(db, request);
    const reviews = "head" in found ? showReviews(said, found.head) : [];
    const judged = { ...pullRequest, ...said, mergeability: showMergeability(found), statuses, reviews };
    const verdict = pullVerdict(judged);
    if (verdict.kind === "draft") return refuse("This pull request is a draft. Mark it ready first.");
    const isBarred = found.kind === "blocked" || found.kind === "conflicts" || verdict.kind === "blocked";
    if (isBarred) return refuse(verdict.words);
    if (request.headExpected !== null && found.head !== request.headExpected) {
      return refuse("The branch changed since you opened this page. Review the new commits, then merge.");
    }
    if (found.kind === "contained") {
      const isMerged = await isAncestor(repository, { ancestor: pullRequest.headCommit, of: found.baseTip }, signal);
      if (!isMerged) return refuse("The branch has no changes.");
      await markMerged(db, projectId, number, { commit: null, by: request.by });
      return { kind: "merged" };
    }
    const commit = await commitMerge(repository, pullRequest, found, { squash: request.squash ?? false, signal });
    // A crash after the branch has moved is mended by it.
    await noteMerge(db, projectId, number, { commit, by: request.by });
    const moved = await ask(
      repository,
      ["update-ref", `refs/heads/${pullRequest.baseRef}`, commit, found.baseTip],
      signal,
    );
    if (moved.code !== 0) continue;
    await saveCompared(db, projectId, number, { base: found.mergeBase, head: found.head });
    await markMerged(db, projectId, number, { commit, by: request.by });
    if (request.removeBranch) await removeBranch(repository, pullRequest, found.head, signal);
    return { kind: "merged" };
  }
  return refuse("The base branch keeps changing. Try again in a moment.");
}

async function commitMerge(
  repository: Repository,
  pullRequest: LocalPullRequest,
  merge: { treeId: string; baseTip: string; head: string },
  { squash, signal }: { squash: boolean; signal: AbortSignal },
): Promise<string> {
  const { number, title, headRef } = pullRequest;
  const message = squash ? `${title} (#${number})` : `Merge pull request #${number} from ${headRef}\n\n${title}`;
  const parents = ["-p", merge.baseTip, ...(squash ? [] : ["-p", merge.head])];
  return gitOutput(repository, ["commit-tree", merge.treeId, ...parents, "-m", message], signal, identity);
}

/** Only as it was merged: a commit that was pushed meanwhile stays. */
async function removeBranch(
  repository: Repository,
  { number, headRef }: LocalPullRequest,
  head: string,
  signal: AbortSignal,
): Promise<void> {
  await keepHead(repository, number, head, signal);
  await ask(repository, ["update-ref", "-d", `refs/heads/${headRef}`, head], signal);
}

function refuse(reason: string): { kind: "refused"; reason: string } {
  return { kind: "refused", reason };
}

interface PullState {
  pullRequest: LocalPullRequest;
  mergeability: Mergeability;
  diff: PullRequestDiff;
}

/** A pull request in its current state. Null if it does not exist. */
export async function readPullView(
  deps: { db: Queryable; repository: Repository },
  projectId: string,
  number: number,
  signal: AbortSignal,
): Promise<PullState | null> {
  const { db, repository } = deps;
  const stored = await getPullRequest(db, projectId, number);
  if (!stored) return null;
  if (stored.state === "open") await refreshLocalPullRequest(deps, projectId, stored, signal);
  const pullRequest = (await getPullRequest(db, projectId, number)) ?? stored;
  const branches = { base: pullRequest.baseRef, head: pullRequest.headRef };
  const mergeability = await readMergeability(repository, branches, signal);
  const diff = await readDiff(repository, { base: pullRequest.baseCommit, head: pullRequest.headCommit }, signal);
  return { pullRequest, mergeability, diff };
}

/** Markers that Emend writes on lines of their own. All other comments are people's text and stay visible. */
const marks = /^<!-- emend:\w+=[\w-]+ -->[ \t]*$/gm;

/** Removes Emend's markers from a pull request's text, as other forges hide HTML comments. */
export function hideMarks(text: string): string {
  return text.replaceAll(marks, "").trimEnd();
}
