import type { PullRequestComment } from "./forge.ts";

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
    const [only, ...more] = review.lines;
    if (review.text.trim() !== "" || more.length > 0) return [review];
    return only ? [{ ...only, at: review.at }] : [];
  });
  return [...remarks, ...others, ...said]
    .sort((left, right) => left.at.localeCompare(right.at))
    .map(({ at: _, ...comment }) => comment);
}
