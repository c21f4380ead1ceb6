import { isOfPerson, mention, type PullRequestComment } from "@emend/forges";

/** What a comment on a job's pull request asks of Emend. */

/** A review is for Emend if its text or one of its line comments mentions it, or if it requests changes. */
export function isCall(comment: PullRequestComment): boolean {
  return isWhole(comment) || requestedLines(comment).length > 0;
}

/** The review's text is a part of the request, and so are all of its line comments. */
function isWhole(comment: PullRequestComment): boolean {
  return mention.test(comment.text) || (comment.requestsChanges === true && isOfPerson(comment));
}

/** Of a review, those that the request is about. */
function requestedLines(comment: PullRequestComment): readonly PullRequestComment[] {
  return (comment.lines ?? []).filter((line) => isWhole(comment) || mention.test(line.text));
}

/** The comments on lines whose threads wait for an answer, and whether the request is about more than one of them. */
export function threadsOf(comment: PullRequestComment): { threads: readonly PullRequestComment[]; isOne: boolean } {
  if (comment.path !== null) return { threads: [comment], isOne: true };
  const threads = requestedLines(comment);
  const hasText = isWhole(comment) && comment.text.replace(mention, "").trim() !== "";
  return { threads, isOne: threads.length === 1 && !hasText };
}

export function promptOf(comment: PullRequestComment): string {
  const own = isWhole(comment) || (comment.lines ?? []).length === 0 ? [comment] : [];
  return [...own, ...requestedLines(comment)]
    .map(placed)
    .filter((part) => part !== "")
    .join("\n\n");
}

function placed(comment: PullRequestComment): string {
  const words = comment.text.replace(mention, "").trim();
  return words === "" || comment.path === null ? words : `In ${placeOf(comment)}: ${words}`;
}

export function placeOf({ path, line, isRemovedLine }: PullRequestComment): string {
  return `${path}${line === null ? "" : `, ${isRemovedLine ? "removed line" : "line"} ${line}`}`;
}
