import type { DashboardJobRow, DashboardSiteFinding } from "./dashboard.ts";
import type { DashboardPullRow } from "./dashboard-pulls.ts";

/** Something that waits for the person who reads it. */
export interface DashboardInboxItem {
  /** Something new about the same thing has another id. */
  id: string;
  /**
   * `question`: an agent asks; `approval`: a change has what Emend does not know on the site; `plan`: a plan waits for approval; `review`: a pull request waits for this person's review; `pull`: a pull request of their own
   * job is open; `automation`: its last run failed; `drift`: a page no longer agrees with the code.
   */
  kind: "question" | "approval" | "plan" | "review" | "pull" | "automation" | "drift";
  projectId: string;
  title: string;
  /** Can be empty. */
  words: string;
  at: string;
  /** The job to open. */
  jobId: string | null;
  /** The number of the pull request that Emend hosts. */
  number: number | null;
  /** The pull request on another forge. */
  url: string | null;
  /** The page of the docs. */
  path: string | null;
}

export interface DashboardInbox {
  /** Questions and reviews first, then the newest. */
  items: readonly DashboardInboxItem[];
  /** There are more than are shown. */
  hasMore: boolean;
}

/** Where a text was found. Each list is bounded. */
export interface DashboardSearch {
  /** Newest first. */
  jobs: readonly DashboardJobRow[];
  /** Those that Emend hosts, newest first. */
  pulls: readonly Pick<DashboardPullRow, "projectId" | "number" | "title" | "state" | "draft">[];
  /** Lines of pages. */
  pages: readonly { projectId: string; path: string; line: number; text: string }[];
  findings: readonly ({ projectId: string } & Pick<
    DashboardSiteFinding,
    "check" | "severity" | "path" | "line" | "message"
  >)[];
}
