import type { ForgeName } from "@emend/contract";
import { channels, type Listener } from "../../db/listener.ts";
import type { Pool, Queryable } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import { createFreshMap } from "../../lib/fresh-map.ts";
import type { Sealer } from "../secrets.ts";
import { type ProjectSettings, parseProjectSettings } from "./project-settings.ts";

/** A docs repository on a forge, with its settings. */
export interface Project {
  id: string;
  name: string;
  forge: ForgeName;
  /** Without credentials. */
  repositoryUrl: string;
  /** Null: the repository's default branch. */
  baseRef: string | null;
  docsDir: string;
  settings: ProjectSettings;
  hasCredential: boolean;
  /** Keys of constructs that people allowed on its site (`allowed-constructs.ts`). */
  allowedConstructs: readonly string[];
  createdAt: Date;
}

export type ProjectRow = Omit<Project, "settings"> & { settings: unknown };

export const projectColumns = `id, name, forge, repository_url as "repositoryUrl", base_ref as "baseRef", docs_dir as "docsDir",
  settings, credential is not null as "hasCredential",
  array(select key from allowed_constructs where project_id = projects.id order by key) as "allowedConstructs", created_at as "createdAt"`;

export function toProject(row: ProjectRow): Project {
  return { ...row, settings: parseProjectSettings(row.settings) };
}

const projectsMax = 10_000;

/** A cache of projects for requests, invalidated when they change. */
export interface Projects {
  get(id: string): Project | undefined | Promise<Project | undefined>;
  close(): void;
}

export function createProjects(deps: { pool: Pool; listener: Listener }): Projects {
  const projects = createFreshMap<Project>(deps.listener, projectsMax);
  const stopListening = [
    deps.listener.on(channels.projectChanged, (id) => projects.delete(id)),
    deps.listener.onReset(() => projects.clear()),
  ];
  return {
    get: (id) => projects.get(id) ?? projects.load(id, () => getProject(deps.pool, id)),
    close() {
      for (const stop of stopListening) stop();
    },
  };
}

/** Undefined if it does not exist. */
export async function getProject(db: Queryable, id: string): Promise<Project | undefined> {
  const { rows } = await db.query<ProjectRow>({
    name: "get-project",
    text: `select ${projectColumns} from projects where id = $1`,
    values: [id],
  });
  return rows[0] && toProject(rows[0]);
}

/** Every project, oldest first. */
export async function listProjects(db: Queryable): Promise<readonly Project[]> {
  const { rows } = await db.query<ProjectRow>(`select ${projectColumns} from projects order by created_at, id`);
  return rows.map(toProject);
}

export interface ProjectFilter {
  /** Text in the name or the repository's URL, or the start of the id. */
  search: string | null;
  ids: readonly string[] | null;
  /** The last id of the previous page. */
  after: string | null;
  limit: number;
}

/** A page of the projects, oldest first. */
export async function listProjectPage(
  db: Queryable,
  filter: ProjectFilter,
): Promise<{ projects: readonly Project[]; nextCursor: string | null }> {
  const { rows } = await db.query<ProjectRow>(
    `select ${projectColumns} from projects
     where ($1::text is null or strpos(lower(name), $1) > 0 or strpos(lower(repository_url), $1) > 0 or starts_with(lower(id), $1))
       and ($2::text[] is null or id = any ($2))
       and ($3::text is null or (created_at, id) > (select created_at, id from projects where id = $3))
     order by created_at, id limit $4`,
    [filter.search?.toLowerCase() ?? null, filter.ids, filter.after, filter.limit + 1],
  );
  const projects = rows.slice(0, filter.limit).map(toProject);
  return { projects, nextCursor: rows.length > projects.length ? (projects.at(-1)?.id ?? null) : null };
}

/** Throws if the project does not exist, instead of treating it as empty. */
export async function requireProject(db: Queryable, id: string): Promise<Project> {
  const project = await getProject(db, id);
  if (project) return project;
  throw new AppError("not_found", { publicMessage: `project not found: ${id}` });
}

/** For the console: finds a project by id or name. Without either, the only project. */
export async function resolveProject(db: Queryable, given: string | undefined): Promise<string> {
  const projects = await listProjects(db);
  const found = given === undefined ? projects : projects.filter(({ id, name }) => id === given || name === given);
  const [first] = found;
  if (first && (found.length === 1 || first.id === given)) return first.id;
  const choices = found.map(({ id, name }) => `${id} (${name})`).join(", ");
  if (found.length > 1) {
    const which = given === undefined ? "there are several projects" : `several projects have the name ${given}`;
    throw new AppError("invalid_request", { publicMessage: `${which}; give an id: ${choices}` });
  }
  throw new AppError("not_found", {
    publicMessage: given === undefined ? "there is no project yet; add one first" : `project not found: ${given}`,
  });
}

/** Whether any project is on the local forge, whose folder all processes must then share. */
export async function hasLocalProjects(db: Queryable): Promise<boolean> {
  const { rows } = await db.query<{ found: boolean }>(
    "select exists (select from projects where forge = 'local') as found",
  );
  return rows[0]?.found === true;
}

/** Local repositories have this installation's URL, which may change between starts. */
export async function refreshLocalUrls(db: Queryable, publicUrl: string): Promise<void> {
  await db.query(
    `update projects set repository_url = $1 || '/git/' || id || '.git'
      where forge = 'local' and repository_url <> $1 || '/git/' || id || '.git'`,
    [publicUrl],
  );
}

/** A project's forge token. Null if it has none. */
export async function openProjectCredential(
  deps: { db: Queryable; sealer: Sealer },
  projectId: string,
): Promise<string | null> {
  const { rows } = await deps.db.query<{ credential: Buffer | null }>("select credential from projects where id = $1", [
    projectId,
  ]);
  const sealed = rows[0]?.credential;
  return sealed ? deps.sealer.open(sealed, credentialContext(projectId)) : null;
}

export function credentialContext(projectId: string): string {
  return `project/${projectId}/credential`;
}

/** Replaces a project's forge token. It is encrypted in the database. */
export async function setProjectCredential(
  deps: { db: Queryable; sealer: Sealer },
  projectId: string,
  credential: string,
): Promise<void> {
  const { rowCount } = await deps.db.query("update projects set credential = $2 where id = $1", [
    projectId,
    deps.sealer.seal(credential, credentialContext(projectId)),
  ]);
  if (rowCount === 0) throw new AppError("not_found", { publicMessage: "Project not found." });
}
