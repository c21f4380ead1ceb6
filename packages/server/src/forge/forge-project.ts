import type { Fetch } from "../lib/network.ts";
import type { Polling } from "./polling.ts";

/** The parts of a project that its forge needs. */
export interface ForgeProject {
  id: string;
  forge: string;
  /** Without credentials. */
  repositoryUrl: string;
  settings: ForgeSettings;
}

export interface ForgeSettings {
  /** Null: derived from the repository's URL. */
  apiUrl: string | null;
  labels: readonly string[];
  /** User names on the forge. */
  reviewers: readonly string[];
  /** GitHub and Gitea: teams of the organization. */
  teamReviewers: readonly string[];
  /** GitHub Apps: GitHub creates the commits and signs them for the App. */
  verifiedCommits: boolean;
  /** GitLab: squash commits when merging. Null: the GitLab project's setting. */
  squash: boolean | null;
  /** GitLab and Bitbucket: delete the branch when merging. Null: the forge's default. */
  removeSourceBranch: boolean | null;
  /** SSRF guard: a user of the dashboard named its URLs, so only public addresses are allowed. */
  isJudged: boolean;
}

/** SSRF guard: connects only to allowed addresses, even if the name resolves to others later. */
export interface JudgedReach {
  fetch: Fetch;
  /**
   * The IP addresses that git must use for this URL. Null if the operator's proxy resolves names. Throws a refusal for
   * users.
   */
  addressesOf(url: string): Promise<readonly string[] | null>;
}

/** The input of every forge that is reached over HTTP. */
export interface RemoteForgeInput {
  fetch: Fetch;
  project: ForgeProject;
  /** As entered: a token, or an App as JSON. */
  credential: string;
  /** Set if the forge is opened for polling. */
  polling?: Polling;
}
