import type {
  DashboardPull,
  DashboardPullRow,
  DashboardReading,
  DashboardStatus,
  DashboardSuggestion,
} from "@emend/contract";
import type { KnownDevices } from "../accounts/sessions/known-devices.ts";
import type { Passwords } from "../accounts/sessions/passwords.ts";
import type { Sessions } from "../accounts/sessions/sessions.ts";
import type { SingleSignOn } from "../accounts/single-sign-on/single-sign-on.ts";
import type { Automations } from "../automations/automations.ts";
import type { Actor } from "../db/acting.ts";
import type { Listener } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import type { AnnounceDue } from "../jobs/announce-due.ts";
import type { MessageJobDeps } from "../jobs/message-job.ts";
import type { JobReader } from "../jobs/read/job-reader.ts";
import type { ByteBudget } from "../lib/byte-budget.ts";
import type { Logger } from "../lib/logger.ts";
import type { ProjectAdmin } from "./project-admin.ts";

/** What logging in and managing people need of the server around them. */
export interface AccountsDeps {
  pool: Pool;
  sessions: Sessions;
  passwords: Passwords;
  devices: KnownDevices;
  /** Null: not configured. */
  singleSignOn: SingleSignOn | null;
  /** For bodies of people who have not logged in. */
  unknownBytes: ByteBudget;
  log: Logger;
  publicUrl(): string;
  /** What the environment says; the dashboard's setting wins over it. */
  archiveAfterDays: number | null;
  /** Makes a project of the docs that come along as a sample. */
  addSample(by: Actor): Promise<{ id: string }>;
}

/** What the dashboard needs of the server around it. */
export interface DashboardDeps {
  pool: Pool;
  listener: Listener;
  sessions: Sessions;
  log: Logger;
  publicUrl(): string;
  /** How this installation's commands are typed; the data folder where it is not the default one. */
  typed: { command: string; dataDir: string | null };
  /** The model of projects that name none. */
  defaultModel: string;
  promptCodePointsMax: number;
  projectAdmin: ProjectAdmin;
  automations: Automations;
  pullRequestState: MessageJobDeps["pullRequestState"];
  /** The pull requests of the projects whose forge is this installation. */
  pulls: PullDesk;
  /** How a model reads an instruction, as far as that can be told without asking it. */
  readPrompt(model: string, prompt: string): DashboardReading;
  /** What the checks found on the project's site, as jobs that would mend it. */
  suggestions(projectId: string): Promise<readonly DashboardSuggestion[]>;
  /** Has a worker look at the project's whole site. */
  askSiteCheck(projectId: string): Promise<void>;
  /** Has a worker look at the pull requests of the project's repositories. */
  askGate(projectId: string): Promise<void>;
  /** How the installation is, for its operator. */
  status(): Promise<DashboardStatus>;
  /** Where the built assets lie, if they do. */
  assetsDir: URL;
  /** How long archiving waits for a publication's outcome. */
  publishingWaitMs?: number;
}

interface PullName {
  projectId: string;
  number: number;
}

interface PullDesk {
  /** Of one project, or of all. */
  list(projectId: string | null): Promise<readonly DashboardPullRow[]>;
  /** Null: there is none. */
  read(name: PullName): Promise<Omit<DashboardPull, "jobId"> | null>;
  readFile(name: PullName, path: string): Promise<string | null>;
  merge(
    name: PullName,
    input: { headExpected: string | null; by: Actor },
  ): Promise<{ kind: "merged" } | { kind: "refused"; reason: string } | { kind: "not_found" }>;
  /** False: there is none. */
  close(name: PullName, by: Actor): Promise<boolean>;
  markReady(name: PullName): Promise<boolean>;
  comment(name: PullName, input: { author: string; text: string }): Promise<boolean>;
}

/** The same for its routes, which share what is made once. */
export interface RouteDeps extends DashboardDeps {
  reader: JobReader;
  announceDue: AnnounceDue;
}
