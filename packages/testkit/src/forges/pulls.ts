import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { FarComment, FarIssue, FarPull, FarReview, FarState } from "./far-end.ts";

/** The tip of a branch. Null if it does not exist. Refs are never packed here, so each is a file. */
export function tipOf(state: FarState, branch: string): string | null {
  const path = join(state.repository.path, "refs/heads", branch);
  return existsSync(path) ? readFileSync(path, "utf8").trim() : null;
}

export type Opening = { kind: "opened"; pull: FarPull } | { kind: "exists"; number: number } | { kind: "no branch" };

type Wanted = Omit<FarPull, "number" | "state" | "at">;

/**
 * Rules that every forge enforces: both branches exist, and a branch has one open pull request. A real server checks,
 * works for a while (it tests the patch), and inserts without checking again.
 */
export async function createPull(state: FarState, wanted: Wanted, work: () => Promise<void>): Promise<Opening> {
  const refused = refusePull(state, wanted);
  await work();
  return refused ?? insertPull(state, wanted);
}

/** At once, as a person in a test does. */
export function openPull(state: FarState, wanted: Wanted): Opening {
  return refusePull(state, wanted) ?? insertPull(state, wanted);
}

function refusePull(state: FarState, wanted: Wanted): Opening | null {
  if (tipOf(state, wanted.head) === null || tipOf(state, wanted.base) === null) return { kind: "no branch" };
  const open = state.pulls.find((pull) => pull.head === wanted.head && pull.state === "open");
  return open ? { kind: "exists", number: open.number } : null;
}

function insertPull(state: FarState, wanted: Wanted): Opening {
  const number = state.pulls.length + 1;
  // One second apart, so that the order by time is the order by number.
  const at = new Date(Date.UTC(2026, 0, 1) + number * 1000).toISOString();
  const pull: FarPull = { ...wanted, number, state: "open", at };
  state.pulls.push(pull);
  return { kind: "opened", pull };
}

/** A pull request as requested, with defaults for the rest. */
export function plainPull(body: { head: string; base: string; title: string; body: string; draft?: boolean }) {
  const { head, base, title, draft = false } = body;
  return { head, base, title, body: body.body, draft, labels: [], reviewers: [], options: {} };
}

/** Emend's comments on a pull request. */
export function addRemark(state: FarState, number: string | undefined, body: string): FarComment {
  const at = new Date().toISOString();
  const comment = { id: 900 + state.comments.length, pull: Number(number), author: "emend", body, at };
  state.comments.push(comment);
  return comment;
}

/** Emend's answer in the thread that this comment began. Undefined: there is none. */
export function addReply(
  state: FarState,
  number: string | undefined,
  to: number,
  body: string,
): FarComment | undefined {
  const first = state.comments.find(({ id, pull }) => id === to && pull === Number(number));
  if (!first) return undefined;
  const { path, line, isRemovedLine } = first;
  const place = {
    ...(path !== undefined && { path }),
    ...(line !== undefined && { line }),
    ...(isRemovedLine && { isRemovedLine }),
  };
  return Object.assign(addRemark(state, number, body), place, { replyTo: first.replyTo ?? to });
}

/** Comments on a pull request, or those on a line. */
export function commentsOf(
  state: FarState,
  number: string | undefined,
  kind: "remarks" | "reviews",
  query = new URLSearchParams(),
): FarComment[] {
  return sinceOf(query, state.comments).filter(
    ({ pull, path }) => pull === Number(number) && (path !== undefined) === (kind === "reviews"),
  );
}

/** What a list with `since` has. */
export function sinceOf<T extends { at: string }>(query: URLSearchParams, all: readonly T[]): T[] {
  const since = Date.parse(query.get("since") ?? "1970-01-01");
  return all.filter(({ at }) => Date.parse(at) >= since);
}

/** Merges if the head is the expected one. GitLab has one method for a merge request. */
export function mergePull(
  state: FarState,
  number: string | undefined,
  wish: { head: string; method?: string },
): { status: 200; pull: FarPull } | { status: 404 | 405 | 409; words: string } {
  const pull = pullOf(state, number);
  if (pull?.state !== "open") return { status: 404, words: "Not Found" };
  if (wish.method !== undefined && !state.mergeMethods.includes(wish.method)) {
    return { status: 405, words: `${wish.method} is not allowed on this repository.` };
  }
  if (state.mergeRefusal !== null) return { status: 405, words: state.mergeRefusal };
  if (tipOf(state, pull.head) !== wish.head) return { status: 409, words: "Head branch was modified." };
  pull.state = "merged";
  return { status: 200, pull };
}

export function pullOf(state: FarState, number: string | undefined): FarPull | undefined {
  return state.pulls.find((pull) => pull.number === Number(number));
}

export function issueOf(state: FarState, number: string | undefined): FarIssue | undefined {
  return state.issues.find((issue) => issue.number === Number(number));
}

/** The labels that were added and not removed since. */
export function labelsOnIssue({ labellings }: FarIssue): string[] {
  const names = [...new Set(labellings.map(({ label }) => label))];
  return names.filter((name) => labellings.findLast(({ label }) => label === name)?.isAdded);
}

export function editRemark(state: FarState, id: string | undefined, body: string): FarComment | undefined {
  const comment = state.comments.find((one) => one.id === Number(id));
  return comment && Object.assign(comment, { body });
}

/** Reviews with a text, and one for each single comment on a line, in order. */
export function reviewsOf(state: FarState, number: string | undefined): (FarReview & { lines: FarComment[] })[] {
  const lines = commentsOf(state, number, "reviews");
  const said = state.reviews.filter(({ pull }) => pull === Number(number));
  return [
    ...said.map((review) => ({ ...review, lines: lines.filter((line) => line.review === review.id) })),
    ...lines
      .filter((line) => !said.some(({ id }) => id === reviewIdOf(line)) && line.review === undefined)
      .map((line) => ({
        ...line,
        id: reviewIdOf(line),
        body: "",
        state: "comment" as const,
        lines: lines.filter((one) => reviewIdOf(one) === reviewIdOf(line)),
      })),
  ];
}

/** Reviews and comments have separate numbering. */
export function reviewIdOf({ id, review }: FarComment): number {
  return review ?? 5000 + id;
}

/** What a token or an App reaches: the repository, and as many others as the test wants. */
export function repositoriesOf(state: FarState): string[] {
  return [state.path, ...state.otherRepositories];
}

export function pageOf<T>(items: readonly T[], query: URLSearchParams, sizeName: string): T[] {
  const size = Number(query.get(sizeName) ?? 30);
  const start = (Number(query.get("page") ?? 1) - 1) * size;
  return items.slice(start, start + size);
}

/** The merge base of two branches or commits. Null if one of them does not exist. */
export function mergeBaseOf(state: FarState, left: string, right: string): string | null {
  try {
    return state.repository.git("merge-base", left, right);
  } catch {
    return null;
  }
}

/** The full id of a commit. Null: not found. */
export function commitOf(state: FarState, id: string): string | null {
  try {
    return state.repository.git("rev-parse", "--verify", "--quiet", `${id}^{commit}`);
  } catch {
    return null;
  }
}

export function newestFirst(pulls: readonly FarPull[]): FarPull[] {
  return pulls.toSorted((left, right) => right.number - left.number);
}
