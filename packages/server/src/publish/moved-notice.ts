import { codeSpan } from "./quiet-text.ts";

const pathsShownMax = 10;

/** A base branch that went another way than the change. */
export interface MovedNotice {
  branch: string;
  /** The base that the change was made from. */
  commit: string;
  /** What both changed. */
  paths: readonly string[];
}

/** For whoever merges: which files will be in conflict, and why. */
export function movedNotice({ branch, commit, paths }: MovedNotice): string {
  const shown = paths.slice(0, pathsShownMax).map((path) => codeSpan(path));
  const rest = paths.length - shown.length;
  const files = [shown.join(", "), ...(rest > 0 ? [`and ${rest} more`] : [])].join(" ");
  return (
    `> **${codeSpan(branch)} changed** while Emend worked, and both sides changed ${files}. ` +
    `This pull request is still based on ${codeSpan(commit.slice(0, 10))}. Resolve the conflict when you merge.`
  );
}
