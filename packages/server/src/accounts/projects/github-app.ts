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
