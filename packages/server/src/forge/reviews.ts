import type { PullRequestComment } from "./forge.ts";

type Timed = PullRequestComment & { at: string };

/**
 * Everything that was said, oldest first. A review is one thing with its comments on lines; one that is a single comment on
 * a line and no more is that comment.
 */
export function withReviews(
  remarks: readonly Timed[],
  reviews: readonly (Timed & { lines: readonly PullRequestComment[] })[],
  /** Comments on lines that belong to no review. */
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
