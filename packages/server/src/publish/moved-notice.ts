import { codeSpan } from "./quiet-text.ts";

const pathsShownMax = 10;

/** A base branch that diverged from the change. */
export interface MovedNotice {
  branch: string;
  /** The base commit of the change. */
  commit: string;
  /** The files that both changed. */
  paths: readonly string[];
}

/** Tells the person who merges which files will conflict, and why. */
export function movedNotice({ branch, commit, paths }: MovedNotice): string {
  const shown = paths.slice(0, pathsShownMax).map((path) => codeSpan(path));
  const rest = paths.length - shown.length;
  const files = [shown.join(", "), ...(rest > 0 ? [`and ${rest} more`] : [])].join(" ");
  return (
    `> **${codeSpan(branch)} changed** while Emend worked, and both sides changed ${files}. ` +
    `This pull request is still based on ${codeSpan(commit.slice(0, 10))}. Resolve the conflict when you merge.`
  );
}
