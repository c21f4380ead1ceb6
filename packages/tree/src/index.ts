export type { TreeFaultCode } from "./faults.ts";
export { type BoundProcess, startBound } from "./git/bound-process.ts";
export { assertGitVersion, createGit, type Git, gitMemoryBytesMax } from "./git/git.ts";
export { gitEnvironment } from "./git/git-environment.ts";
export type { CommitInput, Mirror, Mirrors, ProposedHead, PushOutcome, Remote } from "./mirror/mirror.ts";
export { createMirrors } from "./mirror/mirrors.ts";
export { ensureMirror } from "./mirror/repair-mirror.ts";
export { assertBranch, assertFolder, listRemote, resolveBase, unreachable } from "./mirror/resolve-base.ts";
export { createOverlay } from "./overlay.ts";
export {
  type CitedLines,
  citedLinesMax,
  citeLines,
  type FinderMemory,
  type FoundAgain,
  findAgain,
  readCitable,
} from "./read/cited-lines.ts";
export { findRenames, type ListedFile, parseFileList, wholeFiles } from "./read/diff.ts";
export {
  type CodeAuthors,
  type CommitReader,
  createCodeAuthors,
  createCommitReader,
  createPageHistory,
  createRecentStart,
  createRecentSubjects,
  createSiteHistory,
  type PageHistory,
  type RecentStart,
  type RecentSubjects,
  type SiteHistory,
} from "./read/history.ts";
export {
  type CommitTree,
  checkObjectIds,
  type Overlay,
  type OverlayEntry,
  objectFormatOf,
  readOrSkip,
  type SearchMatch,
  siteTreeOf,
  type Tree,
} from "./tree.ts";
