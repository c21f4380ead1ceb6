import { type TitleConvention, titleConventionOf } from "../publish/title-convention.ts";
import type { Tree } from "../tree/tree.ts";

const commitlintFiles = /^(?:commitlint\.config\.[cm]?[jt]s|\.commitlintrc(?:\.(?:json|ya?ml|[cm]?[jt]s))?)$/;

/** What the repository's commits, or its own check of them, say about how a title is worded. */
export async function readTitleConvention(base: Tree, subjects: readonly string[]): Promise<TitleConvention> {
  const hasCommitlint = (await base.list()).some(({ path }) => commitlintFiles.test(path));
  return titleConventionOf(subjects, hasCommitlint);
}
