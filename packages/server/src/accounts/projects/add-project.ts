import type { ForgeName } from "@emend/contract";
import type { Queryable } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import { isBranchName } from "../../lib/branch-name.ts";
import { newId } from "../../lib/id.ts";
import type { Sealer } from "../secrets.ts";
import { credentialContext } from "./project-credential.ts";
import { assertSettingsFit, parseProjectSettings } from "./project-settings.ts";
import { type Project, type ProjectRow, projectColumns, toProject } from "./projects.ts";

export interface AddProjectInput {
  /** Generated here, unless the caller needs it first: the local forge's URL contains it. */
  id?: string;
  name: string;
  forge: ForgeName;
  repositoryUrl: string;
  baseRef?: string | null;
  docsDir?: string;
  settings?: unknown;
  /** The forge's token, encrypted in the database. */
  credential?: string | null;
}

export async function addProject(deps: { db: Queryable; sealer: Sealer }, input: AddProjectInput): Promise<Project> {
  const id = input.id ?? newId("prj");
  refuseBadProject(input);
  assertSettingsFit(input.settings);
  parseProjectSettings(input.settings);
  const { rows } = await deps.db.query<ProjectRow>(
    `insert into projects (id, name, forge, repository_url, base_ref, docs_dir, settings, credential)
     values ($1, $2, $3, $4, $5, $6, $7, $8) returning ${projectColumns}`,
    [
      id,
      input.name,
      input.forge,
      input.repositoryUrl,
      input.baseRef ?? null,
      plainFolder(input.docsDir ?? ""),
      // Only what was given: if a default changes later, it changes for this project too.
      JSON.stringify(input.settings ?? {}),
      input.credential ? deps.sealer.seal(input.credential, credentialContext(id)) : null,
    ],
  );
  return toProject(rows[0] as ProjectRow);
}

/** Also used for edits. */
export function refuseBadProject(input: Pick<AddProjectInput, "name" | "baseRef" | "repositoryUrl">): void {
  const url = URL.parse(input.repositoryUrl);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new AppError("invalid_request", { publicMessage: "The repository's URL must be a full http or https URL." });
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new AppError("invalid_request", {
      publicMessage:
        "The repository URL must not contain a user, password, query or fragment. Pass the token separately.",
    });
  }
  if (input.name.trim() === "" || input.name.length > 200 || input.name.includes("\0")) {
    throw new AppError("invalid_request", { publicMessage: "A project's name must have 1 to 200 characters." });
  }
  if (input.baseRef && !isBranchName(input.baseRef)) {
    throw new AppError("invalid_request", { publicMessage: "The base branch is not a valid git branch name." });
  }
}

/** `./docs/` and `docs` are the same folder. Paths outside the repository are refused. */
export function plainFolder(docsDir: string): string {
  const parts = docsDir.split("/").filter((part) => part !== "" && part !== ".");
  if (docsDir.startsWith("/") || parts.includes("..") || docsDir.includes("\0") || docsDir.includes("\\")) {
    throw new AppError("invalid_request", { publicMessage: "The docs folder must be inside the repository." });
  }
  return parts.join("/");
}
