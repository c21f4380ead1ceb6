/** What a forge must offer: enough to publish one pull request exactly once, and no more. */

/** One line of a pull request's checks. */
export interface PullRequestCheck {
  name: string;
  verdict: "passed" | "flagged";
  detail: string;
}

export interface PullRequestDraft {
  head: string;
  base: string;
  title: string;
  body: string;
  draft: boolean;
  checks: readonly PullRequestCheck[];
}

export interface PullRequest {
  number: number;
  url: string;
  state: "open" | "merged" | "closed";
  draft: boolean;
  head: string;
  base: string;
  body: string;
}

export type CreateOutcome =
  | { kind: "created"; pullRequest: PullRequest }
  /** The branch has an open pull request already: look for it. */
  | { kind: "exists" };

interface GitRemote {
  /** Without credentials. */
  url: string;
  /** Sent as an HTTP header from the environment; never in a URL, argument or file. */
  authorization: string | null;
}

/**
 * Faults are thrown: AppError "forge_rejected" is a permanent refusal in the forge's own words, "forge_unavailable"
 * may carry the forge's Retry-After; anything else thrown by a request is an unclear answer.
 */
export interface Forge {
  readonly name: "local" | "github" | "gitlab" | "gitea";
  /** Writes under one credential go one after the other. Not the credential itself. */
  readonly credentialId: string;
  /** Whether its page shows `checks` by itself; where not, they go into the body. */
  readonly showsChecks: boolean;
  /** Where and how git reaches the repository. */
  gitRemote(signal: AbortSignal): Promise<GitRemote>;
  /** Every pull request of a head branch, in all states, newest first. */
  findPullRequests(head: string, signal: AbortSignal): Promise<readonly PullRequest[]>;
  createPullRequest(draft: PullRequestDraft, signal: AbortSignal): Promise<CreateOutcome>;
}
