import type { ForgeName } from "@emend/contract";
import { type Actor, consoleActor, inTransactionAs } from "../db/acting.ts";
import type { Pool } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { isBranchName } from "../lib/branch-name.ts";
import { newId } from "../lib/id.ts";
import { type ContextRepository, contextCredentialContext, contextRepositoryColumns } from "./context-repository.ts";
import type { Sealer } from "./secrets.ts";

export interface NewContextRepository {
  projectId: string;
  name: string;
  forge: ForgeName;
  /** As the forge spells it, without credentials. */
  repositoryUrl: string;
  baseRef: string | null;
  /** Stored sealed; null: it can be read by anybody. */
  credential: string | null;
}

const repositoriesMax = 10;
/** It becomes the first part of a path, `@<name>/<path>`, that a model writes and people read. */
const plainName = /^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$/;

/** At most ten a project: counted under the project's lock, so that two who add at once cannot make eleven. */
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
      `insert into context_repositories (id, project_id, name, forge, repository_url, base_ref, credential)
       values ($1, $2, $3, $4, $5, $6, $7) returning ${contextRepositoryColumns}`,
      [
        id,
        input.projectId,
        input.name,
        input.forge,
        input.repositoryUrl,
        input.baseRef,
        input.credential === null ? null : deps.sealer.seal(input.credential, contextCredentialContext(id)),
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
