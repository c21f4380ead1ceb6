import type {
  DashboardGithubApp,
  DashboardModels,
  DashboardModelTrial,
  DashboardNewApp,
  DashboardRepositories,
} from "@emend/contract";
import type { ContextRepository } from "../accounts/projects/context-repositories.ts";
import type { Project } from "../accounts/projects/projects.ts";
import type { Client, Pool } from "../db/pool.ts";
import { type Actor, inTransactionAs } from "../db/transaction.ts";
import { AppError } from "../errors.ts";

/** Project actions that need the forge or the installation's secret; `compose/api.ts` has both. */
export interface ProjectAdmin {
  /** `notice`: why its repository could not be checked. */
  add(input: NewProject, by: Actor): Promise<{ id: string; notice?: string }>;
  /** Checks everything that a job needs from the forge. Changes nothing. */
  diagnose(projectId: string): Promise<Diagnosis>;
  setCredential(project: { id: string; forge: string }, credential: string, by: Actor): Promise<void>;
  /** The repository's new URL, or `follow`: the one that the forge reports. It is checked first. */
  move(
    projectId: string,
    to: { repo: string | "follow"; credential?: string },
    by: Actor,
  ): Promise<{ repositoryUrl: string }>;
  /** Null removes the project's own key. */
  setModelKey(input: { projectId: string; vendor: string; key: string | null }, by: Actor): Promise<void>;
  /** Whether a hosted repository has no branch yet. */
  isEmpty(projectId: string): Promise<boolean>;
  /** Gives an empty hosted repository its first content. */
  fill(
    projectId: string,
    from: { files: readonly { path: string; content: Buffer }[] } | { url: string } | { template: string },
  ): Promise<void>;
  templates: readonly { name: string; label: string }[];
  describeModels(project: Project): Promise<DashboardModels>;
  /** Asks a model one short question. `key`: one that is not stored yet. */
  tryModel(projectId: string, input: { model: string; key: string | null }): Promise<DashboardModelTrial>;
  addContext(input: NewContext, by: Actor): Promise<ContextRepository>;
  /** One page of the repositories that a credential reaches, for a person who chooses one. */
  listRepositories(source: RepositorySource, cursor: string | null): Promise<DashboardRepositories>;
  githubApps: GithubApps;
}

/** A credential that is not stored yet, or the one of a project or of a new GitHub App. */
type RepositorySource = { forge: string; host: string; credential: string } | { from: string };

/**
 * GitHub Apps that people create in the dashboard. `session` is the browser's session token: only the session that
 * began may finish. `id` is the future project's.
 */
export interface GithubApps {
  begin(input: { host: string; organization: string | null; session: string }, by: Actor): Promise<{ id: string }>;
  /** The origin of GitHub's pages, for the page that posts there. Null if this session has no such setup. */
  originOf(id: string, session: string): Promise<string | null>;
  /** The form to post to GitHub, with a new state. `base`: this server's URL as the browser uses it. */
  manifest(input: { id: string; session: string; base: string }): Promise<DashboardNewApp>;
  /** Exchanges GitHub's code for the App. */
  created(input: { state: string; code: string; session: string }): Promise<{ id: string }>;
  /** Created Apps that no project uses yet. */
  list(): Promise<readonly DashboardGithubApp[]>;
  /** False if it does not exist. */
  remove(id: string): Promise<boolean>;
}

export interface NewProject {
  name: string;
  forge: string;
  repo?: string;
  base?: string;
  docsDir?: string;
  credential?: string;
  /** Uses the credential of this project or new GitHub App. */
  from?: string;
  settings?: Readonly<Record<string, unknown>>;
}

interface NewContext {
  projectId: string;
  name: string;
  forge: string;
  repo: string;
  base?: string;
  credential?: string;
}

export interface Diagnosis {
  checks: readonly { name: string; verdict: "ok" | "problem" | "unknown"; words: string }[];
  /** How to set up the forge's webhook. Null on the local forge, which needs none. */
  webhook: { url: string; secret: string } | null;
}

/** Deletes a project with all its data. The audit log, the repository and pull requests on the forge stay. */
export async function removeProject(pool: Pool, project: { id: string; name: string }, by: Actor): Promise<void> {
  await inTransactionAs(pool, by, (client) => removeProjectRows(client, project));
}

export async function removeProjectRows(client: Client, project: { id: string }): Promise<void> {
  // New jobs refer to this row, so the lock prevents new ones.
  await client.query("select from projects where id = $1 for update", [project.id]);
  const { rows } = await client.query<{ active: number }>(
    "select count(*)::int as active from jobs where project_id = $1 and status = 'active'",
    [project.id],
  );
  const active = rows[0]?.active ?? 0;
  if (active > 0) {
    const jobs = active === 1 ? "One job of the project is" : `${active} jobs of the project are`;
    throw new AppError("conflict", { publicMessage: `${jobs} running. Wait for them or cancel them first.` });
  }
  for (const table of ["webhooks", "local_pull_requests", "idempotency_keys", "quota_uses"]) {
    await client.query(`delete from ${table} where project_id = $1`, [project.id]);
  }
  // Invalidates the job caches of all nodes.
  await client.query(
    "with gone as (delete from jobs where project_id = $1 returning id) select pg_notify('emend_job_changed', id) from gone",
    [project.id],
  );
  await client.query("delete from projects where id = $1", [project.id]);
  await client.query("select pg_notify('emend_project_changed', $1)", [project.id]);
}
