import { isBranchName } from "@emend/base/branch-name.ts";
import type { ForgeName } from "@emend/contract";
import type { Pool, Queryable } from "../../db/pool.ts";
import { type Actor, consoleActor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import type { Sealer } from "../secrets.ts";

/** A repository that a project's jobs may read but not write, under its own name. */
export interface ContextRepository {
  id: string;
  projectId: string;
  name: string;
  forge: ForgeName;
  /** Without credentials. */
  repositoryUrl: string;
  /** Null: derived from the repository's URL. */
  apiUrl: string | null;
  /** Null: the repository's default branch. */
  baseRef: string | null;
  hasCredential: boolean;
  createdAt: Date;
}

export const contextRepositoryColumns = `id, project_id as "projectId", name, forge, repository_url as "repositoryUrl",
  api_url as "apiUrl", base_ref as "baseRef", credential is not null as "hasCredential", created_at as "createdAt"`;

export function contextCredentialContext(id: string): string {
  return `context/${id}/credential`;
}

interface NewContextRepository {
  projectId: string;
  name: string;
  forge: ForgeName;
  /** As the forge spells it, without credentials. */
  repositoryUrl: string;
  apiUrl: string | null;
  baseRef: string | null;
  /** Encrypted in the database. Null: the repository is public. */
  credential: string | null;
}

const repositoriesMax = 10;
/** It becomes the first part of a path, `@<name>/<path>`, that models write and people read. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** At most ten per project, counted under the project's lock. */
export async function addContextRepository(
  deps: { pool: Pool; sealer: Sealer },
  input: NewContextRepository,
  by: Actor = consoleActor,
): Promise<ContextRepository> {
  refuseBad(input);
  const id = newId("ctx");
  return inTransactionAs(deps.pool, by, async (client) => {
    const project = await client.query("select 1 from projects where id = $1 for update", [input.projectId]);
    if (project.rowCount === 0) {
      throw new AppError("not_found", { publicMessage: `project not found: ${input.projectId}` });
    }
    const { rows: known } = await client.query<{ name: string }>(
      "select name from context_repositories where project_id = $1",
      [input.projectId],
    );
    if (known.some(({ name }) => name.toLowerCase() === input.name.toLowerCase())) {
      throw conflict(`This project already has a context repository named ${input.name}.`);
    }
    if (known.length >= repositoriesMax) {
      throw conflict(`A project has at most ${repositoriesMax} context repositories.`);
    }
    const { rows } = await client.query<ContextRepository>(
      `insert into context_repositories (id, project_id, name, forge, repository_url, base_ref, credential, api_url)
       values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${contextRepositoryColumns}`,
      [
        id,
        input.projectId,
        input.name,
        input.forge,
        input.repositoryUrl,
        input.baseRef,
        input.credential === null ? null : deps.sealer.seal(input.credential, contextCredentialContext(id)),
        input.apiUrl,
      ],
    );
    return rows[0] as ContextRepository;
  });
}

function refuseBad({ name, baseRef }: NewContextRepository): void {
  if (!plainName.test(name)) {
    throw refused("A context repository's name must have 1 to 63 letters, digits, dots, dashes or underscores.");
  }
  if (baseRef !== null && !isBranchName(baseRef)) throw refused("The branch is not a valid git branch name.");
}

function refused(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

function conflict(publicMessage: string): AppError {
  return new AppError("conflict", { publicMessage });
}

/** A project's context repositories, by name. */
export async function listContextRepositories(db: Queryable, projectId: string): Promise<readonly ContextRepository[]> {
  const { rows } = await db.query<ContextRepository>(
    `select ${contextRepositoryColumns} from context_repositories where project_id = $1 order by name`,
    [projectId],
  );
  return rows;
}

/**
 * False if the project has none of this name. Running jobs keep what they have pinned. Refused while automations watch
 * it: they would look active and never trigger.
 */
export async function removeContextRepository(
  db: Queryable,
  input: { projectId: string; name: string },
): Promise<boolean> {
  const { rows } = await db.query<{ isRemoved: boolean; watchers: string[] | null }>(
    `with found as (select id from context_repositories where project_id = $1 and name = $2),
       watching as (select automations.name from automations join found on found.id = repository_id order by 1),
       removed as (
         delete from context_repositories using found
         where context_repositories.id = found.id and not exists (select from watching) returning found.id
       )
     select exists (select from removed) as "isRemoved", (select array_agg(name) from watching) as watchers`,
    [input.projectId, input.name],
  );
  const { isRemoved = false, watchers } = rows[0] ?? {};
  if (!watchers) return isRemoved;
  throw new AppError("conflict", {
    publicMessage: `These automations use ${input.name}: ${watchers.join(", ")}. Remove them first.`,
  });
}

/** A context repository's token. Null if it needs none. */
export async function openContextCredential(
  deps: { db: Queryable; sealer: Sealer },
  id: string,
): Promise<string | null> {
  const { rows } = await deps.db.query<{ credential: Buffer | null }>(
    "select credential from context_repositories where id = $1",
    [id],
  );
  const sealed = rows[0]?.credential;
  return sealed ? deps.sealer.open(sealed, contextCredentialContext(id)) : null;
}
