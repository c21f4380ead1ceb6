import type { PriceTable } from "@emend/agent";
import type { ByteBudget } from "@emend/base/byte-budget.ts";
import type { Logger } from "@emend/base/logger.ts";
import type {
  DashboardPull,
  DashboardPullFile,
  DashboardReading,
  DashboardSiteFinding,
  DashboardStatus,
  DashboardSuggestion,
  DashboardThread,
  Retention,
} from "@emend/contract";
import type { FastifyInstance } from "fastify";
import type { Sealer } from "../accounts/secrets.ts";
import type { KnownDevices } from "../accounts/sessions/log-in.ts";
import type { Passwords } from "../accounts/sessions/passwords.ts";
import type { Sessions } from "../accounts/sessions/sessions.ts";
import type { SingleSignOn } from "../accounts/single-sign-on/single-sign-on.ts";
import type { Automations } from "../automations/automation-store.ts";
import type { Listener } from "../db/listener.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import type { Actor } from "../db/transaction.ts";
import type { AnnounceDue } from "../jobs/announce.ts";
import type { MessageJobDeps } from "../jobs/message-job.ts";
import type { JobReader } from "../jobs/read/job-reader.ts";
import type { ProjectAdmin } from "./project-admin.ts";

/** What the account routes need from the server. */
export interface AccountsDeps {
  pool: Pool;
  sessions: Sessions;
  passwords: Passwords;
  devices: KnownDevices;
  sealer: Sealer;
  /** Null: not configured. */
  singleSignOn: SingleSignOn | null;
  /** The memory budget for bodies of people who are not logged in. */
  unknownBytes: ByteBudget;
  log: Logger;
  publicUrl(): string;
  /** The environment's values. The dashboard's override them. */
  retention: Retention;
  /** Adds the included sample docs as a project. */
  addSample(by: Actor): Promise<{ id: string }>;
}

interface PageEdit {
  projectId: string;
  /** The commit that the person read. */
  commit: string;
  path: string;
  text: string;
}

type EditCheck =
  | {
      kind: "checked";
      verdict: Readonly<Record<"introduced" | "fixed", readonly Omit<DashboardSiteFinding, "fix">[]>>;
    }
  | { kind: "refused"; reason: string };

/** What the dashboard needs from the server. */
export interface DashboardDeps {
  pool: Pool;
  /** For searches and older pages of lists, which may be seconds old. */
  lateReads: Queryable;
  listener: Listener;
  sessions: Sessions;
  log: Logger;
  publicUrl(): string;
  cell: string | null;
  /** How to type this installation's commands; the data folder if it is not the default. */
  typed: { command: string; dataDir: string | null };
  /** The model of projects that name none. */
  defaultModel: string;
  /** What the operator says about models. */
  modelPrices?: PriceTable;
  promptCodePointsMax: number;
  projectAdmin: ProjectAdmin;
  automations: Automations;
  /** Adds the routes of the table of operations. */
  addOperations(api: FastifyInstance): void;
  pullRequestState: MessageJobDeps["pullRequestState"];
  /** The pull requests of the local forge. */
  pulls: PullDesk;
  /** Comments on their lines, and people's edits. */
  reviews: ReviewDesk;
  /** How a model understands an instruction, if that is known without asking it. */
  readPrompt(model: string, prompt: string, pages?: readonly string[]): DashboardReading;
  /** Jobs that would fix what the site checks found. */
  suggestions(projectId: string): Promise<readonly DashboardSuggestion[]>;
  /** Has a worker check the project's whole site. */
  askSiteCheck(projectId: string): Promise<void>;
  isSiteCheckAsked(projectId: string): Promise<boolean>;
  /** Has a worker look at the project's claims. */
  askClaimPoll(projectId: string): Promise<void>;
  /** A page of the docs at a checked commit. Null: this node has no copy of it. */
  readPage(projectId: string, commit: string, path: string): Promise<string | null>;
  /** Paths of pages, as they were checked last. Empty: this node has no copy of them. */
  listPages(projectId: string): Promise<readonly string[]>;
  /** Lines of files with a text in them, as they were checked last. */
  searchPages(
    projectId: string,
    search: { text: string; accepts(path: string): boolean; matchesMax: number },
    signal: AbortSignal,
  ): Promise<readonly { path: string; line: number; text: string }[]>;
  /** What the checks say of a page with another text. */
  checkEdit(edit: PageEdit): Promise<EditCheck>;
  /** Opens a pull request with it. */
  proposeEdit(
    edit: PageEdit & { title: string; by: string },
  ): Promise<{ kind: "opened"; number: number; url: string } | { kind: "refused"; reason: string }>;
  /** Has a worker look at the pull requests of the project's repositories. */
  askGate(projectId: string): Promise<void>;
  /** Whether a mail server is configured. */
  sendsEmail: boolean;
  /** The installation's status, for its operator. */
  status(): Promise<DashboardStatus>;
  /** Runs again what was given up. False: there is no such task. */
  retryTask(task: { kind: string; subject: string }): Promise<boolean>;
  /** The folder of the built assets, if it exists. */
  assetsDir: URL;
  /** How long archiving waits for the outcome of a publication. */
  publishingWaitMs?: number;
}

interface PullName {
  projectId: string;
  number: number;
}

interface PullDesk {
  /** Null if it does not exist. */
  read(
    name: PullName,
    reader: string,
  ): Promise<Omit<DashboardPull, "jobId" | "pictures" | "ask" | "threads" | "findings"> | null>;
  readFile(name: PullName, path: string): Promise<DashboardPullFile | null>;
  merge(
    name: PullName,
    input: { headExpected: string | null; squash: boolean; removeBranch: boolean; by: Actor },
  ): Promise<{ kind: "merged" } | { kind: "refused"; reason: string } | { kind: "not_found" }>;
  /** False if it does not exist. */
  close(name: PullName, by: Actor): Promise<boolean>;
  markReady(name: PullName): Promise<boolean>;
  comment(name: PullName, input: { author: string; text: string; requestsChanges?: boolean }): Promise<boolean>;
  review(
    name: PullName,
    input: { head: string; verdict: "approved" | "changes_requested"; by: string },
  ): Promise<ReviewOutcome>;
  setReviewer(name: PullName, input: { reviewer: string; isWanted: boolean }): Promise<ReviewOutcome>;
  setViewed(name: PullName, input: { viewer: string; path: string; isViewed: boolean }): Promise<boolean>;
}

type ReviewOutcome = { kind: "done" } | { kind: "refused"; reason: string } | { kind: "not_found" };

interface ReviewDesk {
  list(name: PullName): Promise<readonly DashboardThread[]>;
  /** Null if there are no open comments. */
  request(name: PullName): Promise<string | null>;
  comment(
    name: PullName,
    input: Pick<DashboardThread, "side" | "path" | "firstLine" | "lastLine" | "suggestion"> & {
      head: string;
      author: string;
      text: string;
    },
  ): Promise<ReviewOutcome>;
  reply(name: PullName, threadId: string, input: { author: string; text: string }): Promise<ReviewOutcome>;
  resolve(name: PullName, threadId: string, by: string | null): Promise<ReviewOutcome>;
  applySuggestion(name: PullName, threadId: string, input: { head: string; by: string }): Promise<ReviewOutcome>;
  edit(
    name: PullName,
    input: { head: string; path: string; text: string; message: string; by: string },
  ): Promise<ReviewOutcome>;
}

/** The dependencies of all routes, with what is created once. */
export interface RouteDeps extends DashboardDeps {
  reader: JobReader;
  announceDue: AnnounceDue;
}
