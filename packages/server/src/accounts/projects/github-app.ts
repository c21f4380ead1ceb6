import type { Queryable } from "../../db/pool.ts";
import type { Sealer } from "../secrets.ts";

/** A GitHub App that was created for a project that is not added yet. */
export interface PendingApp {
  /** The future project's id: the App's webhook URL contains it. */
  projectId: string;
  name: string;
  installUrl: string;
  /** In the form that the project will store. */
  credential: string;
}

interface Deps {
  db: Queryable;
  sealer: Sealer;
}

/** GitHub shows an App's key once. It is stored immediately, so that a second attempt continues with the same App. */
export async function keepPendingApp({ db, sealer }: Deps, repositoryUrl: string, app: PendingApp): Promise<void> {
  await db.query(
    `insert into github_apps (repository_url, project_id, name, install_url, credential) values ($1, $2, $3, $4, $5)
     on conflict (repository_url) do update set project_id = excluded.project_id, name = excluded.name,
       install_url = excluded.install_url, credential = excluded.credential, created_at = now()`,
    [repositoryUrl, app.projectId, app.name, app.installUrl, sealer.seal(app.credential, appContext(repositoryUrl))],
  );
}

export async function findPendingApp({ db, sealer }: Deps, repositoryUrl: string): Promise<PendingApp | null> {
  const { rows } = await db.query<Omit<PendingApp, "credential"> & { credential: Buffer }>(
    `select project_id as "projectId", name, install_url as "installUrl", credential
     from github_apps where repository_url = $1`,
    [repositoryUrl],
  );
  const [found] = rows;
  return found ? { ...found, credential: sealer.open(found.credential, appContext(repositoryUrl)) } : null;
}

export async function forgetPendingApp({ db }: Pick<Deps, "db">, repositoryUrl: string): Promise<void> {
  await db.query("delete from github_apps where repository_url = $1", [repositoryUrl]);
}

export function appContext(repositoryUrl: string): string {
  return `github-app/${repositoryUrl}/credential`;
}

/** An App that is being created in the dashboard. */
export interface AppSetup {
  /** The future project's id. */
  projectId: string;
  origin: string;
  organization: string | null;
  createdBy: string;
  createdAt: Date;
  /** Null until GitHub has created it. */
  app: { name: string; installUrl: string } | null;
}

interface SetupRow extends Omit<AppSetup, "app"> {
  name: string | null;
  installUrl: string | null;
}

const setupColumns = `project_id as "projectId", origin, organization, created_by as "createdBy", created_at as "createdAt",
  name, install_url as "installUrl"`;

function toSetup({ name, installUrl, ...setup }: SetupRow): AppSetup {
  return { ...setup, app: name !== null && installUrl !== null ? { name, installUrl } : null };
}

/** GitHub's code is valid for an hour, and so is the way to it. */
const setupMinutes = 60;

/** Also removes abandoned ones: nothing is lost before GitHub has created the App. */
export async function beginAppSetup(
  db: Queryable,
  input: Pick<AppSetup, "projectId" | "origin" | "organization" | "createdBy"> & { sessionHash: Buffer },
): Promise<void> {
  await db.query("delete from github_app_setups where credential is null and expires_at < clock_timestamp()");
  await db.query(
    `insert into github_app_setups (project_id, origin, organization, created_by, session_hash, expires_at)
     values ($1, $2, $3, $4, $5, clock_timestamp() + make_interval(mins => $6))`,
    [input.projectId, input.origin, input.organization, input.createdBy, input.sessionHash, setupMinutes],
  );
}

/** The setup that this session began and GitHub has not finished. */
export async function findOwnSetup(
  db: Queryable,
  input: { projectId: string; sessionHash: Buffer },
): Promise<AppSetup | null> {
  const { rows } = await db.query<SetupRow>(
    `select ${setupColumns} from github_app_setups
     where project_id = $1 and session_hash = $2 and credential is null and expires_at > clock_timestamp()`,
    [input.projectId, input.sessionHash],
  );
  return rows[0] ? toSetup(rows[0]) : null;
}

/** Replaces the state of an earlier attempt. */
export async function setSetupState(db: Queryable, projectId: string, stateHash: Buffer): Promise<void> {
  await db.query("update github_app_setups set state_hash = $2 where project_id = $1 and credential is null", [
    projectId,
    stateHash,
  ]);
}

/** CSRF: a state works once, until it expires, and only in the session that began. Null otherwise. */
export async function spendSetupState(
  db: Queryable,
  input: { stateHash: Buffer; sessionHash: Buffer },
): Promise<AppSetup | null> {
  const { rows } = await db.query<SetupRow>(
    `update github_app_setups set state_hash = null
     where state_hash = $1 and session_hash = $2 and credential is null and expires_at > clock_timestamp()
     returning ${setupColumns}`,
    [input.stateHash, input.sessionHash],
  );
  return rows[0] ? toSetup(rows[0]) : null;
}

/** GitHub shows the key once, so it is stored before anything else can fail. */
export async function keepSetupApp(
  { db, sealer }: Deps,
  projectId: string,
  app: { name: string; installUrl: string; credential: string },
): Promise<void> {
  await db.query("update github_app_setups set name = $2, install_url = $3, credential = $4 where project_id = $1", [
    projectId,
    app.name,
    app.installUrl,
    sealer.seal(app.credential, setupContext(projectId)),
  ]);
}

/** Apps that no project uses yet, newest first. */
export async function listCreatedSetups(db: Queryable): Promise<readonly AppSetup[]> {
  const { rows } = await db.query<SetupRow>(
    `select ${setupColumns} from github_app_setups where credential is not null order by created_at desc limit 50`,
  );
  return rows.map(toSetup);
}

/** A created App with its key. */
export async function openCreatedSetup(
  { db, sealer }: Deps,
  projectId: string,
): Promise<(AppSetup & { credential: string }) | null> {
  const { rows } = await db.query<SetupRow & { credential: Buffer }>(
    `select ${setupColumns}, credential from github_app_setups where project_id = $1 and credential is not null`,
    [projectId],
  );
  const [found] = rows;
  if (!found) return null;
  const { credential, ...row } = found;
  return { ...toSetup(row), credential: sealer.open(credential, setupContext(projectId)) };
}

/** False if there is none. */
export async function removeAppSetup(db: Queryable, projectId: string): Promise<boolean> {
  const { rowCount } = await db.query("delete from github_app_setups where project_id = $1", [projectId]);
  return rowCount === 1;
}

export function setupContext(projectId: string): string {
  return `github-app-setup/${projectId}/credential`;
}
