import type { Fetch } from "../lib/network.ts";
import type { Polling } from "./polling.ts";

/** As much of a project as its forge needs. */
export interface ForgeProject {
  id: string;
  forge: string;
  /** Without credentials. */
  repositoryUrl: string;
  settings: ForgeSettings;
}

export interface ForgeSettings {
  /** Null: known from the repository's address. */
  apiUrl: string | null;
  labels: readonly string[];
  /** By the names that people have on the forge. */
  reviewers: readonly string[];
  /** GitHub and Gitea: teams of the organization. */
  teamReviewers: readonly string[];
  /** GitHub Apps: commits are made by GitHub, which signs them as the App's. */
  verifiedCommits: boolean;
  /** GitLab: squash the commits when merging; null: as its project is set. */
  squash: boolean | null;
  /** GitLab and Bitbucket: delete the branch when merging; null: as is usual there. */
  removeSourceBranch: boolean | null;
  /** Its addresses were named by somebody who must not lead this server to what only it can reach. */
  isJudged: boolean;
}

/** Reaches allowed addresses alone, whatever a name resolves to meanwhile. */
export interface JudgedReach {
  fetch: Fetch;
  /** The addresses that git must use for this URL; null where the operator's proxy finds them. Refuses in words. */
  addressesOf(url: string): Promise<readonly string[] | null>;
}

/** What every forge that is reached over HTTP is opened with. */
export interface RemoteForgeInput {
  fetch: Fetch;
  project: ForgeProject;
  /** As it was given: a token, or an App as JSON. */
  credential: string;
  /** Set where the forge is opened for a look that is repeated. */
  polling?: Polling;
}
