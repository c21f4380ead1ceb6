export { changeKindOf, kindFilesMax } from "./change-kind.ts";
export { type CodeOwners, ownersOf, readCodeOwners, withReviewers } from "./code-owners.ts";
export { conventionalTitle, listChecks, type TitleConvention, titleConventionOf } from "./draft-pull-request.ts";
export {
  type EnsuredPullRequest,
  ensurePullRequest,
  findMarked,
  openWithMarker,
  sayNotOpen,
  sayTwins,
  sinceOf,
} from "./ensure-pull-request.ts";
export type { PublishFaultCode } from "./faults.ts";
export {
  authorOf,
  type CommitIds,
  type CommitSettings,
  commitMessage,
  type PageLinks,
  type Publication,
  type PublishCrashPoint,
  type PublishDeps,
  type PublishInput,
  publishCrashPoints,
  type TotalUsage,
} from "./publication.ts";
export { publishChange } from "./publish-change.ts";
export { isSealed, sealed, withoutNotice } from "./pull-request-body.ts";
export { codeSpan, plainLine, plainText, quietMarkdown } from "./quiet-text.ts";
export { createWriteQueue, type WriteQueue } from "./write-queue.ts";
