export type { ApiClient } from "./api-client.ts";
export { blobUrl } from "./blob-url.ts";
export type { ForgeFaultCode } from "./faults.ts";
export type {
  CommitCheck,
  CommitChecks,
  CommitStatus,
  Conversation,
  CreateOutcome,
  Forge,
  ForgeCommits,
  ForgeInspection,
  ForgeProject,
  ForgeSettings,
  Issue,
  IssueAct,
  JudgedReach,
  OpenPullRequest,
  PullRequest,
  PullRequestChange,
  PullRequestCheck,
  PullRequestComment,
  PullRequestCommits,
  PullRequestDraft,
  PullRequestSearch,
  RepositoryDescription,
  WriteAccess,
} from "./forge.ts";
export { mention, plainSettings } from "./forge.ts";
export { appManifest, convertManifest, createApp, newAppUrl } from "./github/create-app.ts";
export { locateGithub } from "./github/github-forge.ts";
export {
  type AppIdentity,
  appPermissions,
  createGithubClient,
  type GithubTokens,
  isAppCredential,
  openAppApi,
  parseAppCredential,
} from "./github/github-token.ts";
export { type AnswerMemory, createAnswerMemory, type Polling, startPolling } from "./polling.ts";
export { answerMark, isAnswered, isAtCommit, isOfPerson } from "./pull-request-calls.ts";
export {
  checkCredential,
  knownForge,
  listRepositories,
  normalizeRepository,
  openJudgedForge,
  openRemoteForge,
} from "./registry.ts";
