/** What a forge must offer: enough to publish one pull request exactly once, and no more. */

export interface PullRequestDraft {
  head: string;
  base: string;
  title: string;
  body: string;
  draft: boolean;
}

export interface PullRequest {
  number: number;
  url: string;
  state: "open" | "merged" | "closed";
  draft: boolean;
  head: string;
  base: string;
}

export interface GitRemote {
  /** Without credentials. */
  url: string;
  /** Sent as an HTTP header from the environment; never in a URL, argument or file. */
  authorization: string | null;
}

export interface Forge {
  readonly name: "local" | "github" | "gitlab" | "gitea";
  /** Where and how git reaches the repository. */
  gitRemote(signal: AbortSignal): Promise<GitRemote>;
  /** Every pull request of a head branch, in all states, newest first. */
  findPullRequests(head: string, signal: AbortSignal): Promise<readonly PullRequest[]>;
  createPullRequest(draft: PullRequestDraft, signal: AbortSignal): Promise<PullRequest>;
}
