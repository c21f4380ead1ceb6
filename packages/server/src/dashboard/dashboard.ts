import type { DashboardReading, DashboardSuggestion } from "@emend/contract";
import type { Sessions } from "../accounts/sessions.ts";
import type { Listener } from "../db/listener.ts";
import type { Pool } from "../db/pool.ts";
import type { AnnounceDue } from "../jobs/announce-due.ts";
import type { JobReader } from "../jobs/job-reader.ts";
import type { MessageJobDeps } from "../jobs/message-job.ts";
import type { Logger } from "../lib/logger.ts";

/** What the dashboard needs of the server around it. */
export interface DashboardDeps {
  pool: Pool;
  listener: Listener;
  sessions: Sessions;
  log: Logger;
  publicUrl(): string;
  /** The model of projects that name none. */
  defaultModel: string;
  promptCodePointsMax: number;
  /** Makes a project whose repository, empty at first, is kept here. */
  addLocalProject(input: NewLocalProject): Promise<{ id: string }>;
  pullRequestState: MessageJobDeps["pullRequestState"];
  /** How a model reads an instruction, as far as that can be told without asking it. */
  readPrompt(model: string, prompt: string): DashboardReading;
  /** What the checks found on the project's site, as jobs that would mend it. */
  suggestions(projectId: string): Promise<readonly DashboardSuggestion[]>;
  /** Has a worker look at the project's whole site. */
  askSiteCheck(projectId: string): Promise<void>;
  /** Where the built assets lie, if they do. */
  assetsDir: URL;
  /** How long archiving waits for a publication's outcome. */
  publishingWaitMs?: number;
}

interface NewLocalProject {
  name: string;
  base?: string;
  docsDir?: string;
}

/** The same for its routes, which share what is made once. */
export interface RouteDeps extends DashboardDeps {
  reader: JobReader;
  announceDue: AnnounceDue;
}
