import { isBranchName } from "@emend/base/branch-name.ts";
import { isModelName, modelForms } from "@emend/base/model-names.ts";
import type { ForgeName } from "@emend/contract";
import { ignoreProblem } from "@emend/site";
import type { Pool, Queryable } from "../../db/pool.ts";
import { type Actor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import type { Sealer } from "../secrets.ts";
import { assertSettingsFit, isRecord, parseProjectSettings } from "./project-settings.ts";
import { credentialContext, type Project, type ProjectRow, projectColumns, toProject } from "./projects.ts";

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
  if (isRecord(input.settings)) refuseBadSilencers(input.settings);
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
function refuseBadProject(input: Pick<AddProjectInput, "name" | "baseRef" | "repositoryUrl">): void {
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

export interface ProjectEdit {
  name?: string;
  /** Null: the repository's default branch. */
  baseRef?: string | null;
  docsDir?: string;
  /** Only those that change. Groups such as `limits` can be partial. */
  settings?: Readonly<Record<string, unknown>>;
  /** One more finding that is wrong: it is not reported again, and the audit log keeps the verdict. */
  wrong?: { check: string; path: string; message: string; reason: string };
}

/** Changes only what is given. Nodes are notified by the table's trigger. */
export async function updateProject(pool: Pool, id: string, edit: ProjectEdit, by: Actor): Promise<Project> {
  return inTransactionAs(pool, by, async (client) => {
    // The row is locked: concurrent edits of different settings must not undo each other.
    const found = await client.query<ProjectRow>(`select ${projectColumns} from projects where id = $1 for update`, [
      id,
    ]);
    const row = found.rows[0];
    if (!row) throw new AppError("not_found", { publicMessage: "Project not found." });
    const name = edit.name ?? row.name;
    const baseRef = edit.baseRef === undefined ? row.baseRef : edit.baseRef;
    const before = row.settings as Record<string, unknown>;
    const wanted = { ...edit.settings, ...(edit.wrong && { checks: { ignore: [...ignoredIn(before), edit.wrong] } }) };
    refuseUnknownModels(before, wanted);
    refuseBadSilencers(wanted);
    const settings = mergeSettings(before, wanted);
    assertSettingsFit(settings);
    refuseBadProject({ name, baseRef, repositoryUrl: row.repositoryUrl });
    const { rows } = await client.query<ProjectRow>(
      // A token is only sent to the server that it was given for.
      `update projects set name = $2, base_ref = $3, docs_dir = $4, settings = $5,
         credential = case when $5::jsonb #>> '{forge,apiUrl}' is distinct from settings #>> '{forge,apiUrl}' then null
           else credential end
       where id = $1 returning ${projectColumns}`,
      [id, name, baseRef, plainFolder(edit.docsDir ?? row.docsDir), JSON.stringify(settings)],
    );
    if (edit.wrong) await client.query("select audit('finding.wrong', $1, $2)", [id, JSON.stringify(edit.wrong)]);
    // Parsing throws for invalid settings and so rolls back the transaction.
    return toProject(rows[0] as ProjectRow);
  });
}

function ignoredIn({ checks }: Readonly<Record<string, unknown>>): readonly unknown[] {
  return isRecord(checks) && Array.isArray(checks.ignore) ? checks.ignore : [];
}

/** Unset settings stay unset: if a default changes later, it changes for this project too. */
function mergeSettings(
  before: Readonly<Record<string, unknown>>,
  edit: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const merged = { ...before };
  for (const [name, value] of Object.entries(edit)) {
    const old = before[name];
    merged[name] = isRecord(old) && isRecord(value) ? { ...old, ...value } : value;
  }
  return merged;
}

/** An unknown model would fail every job. One that was already set may stay, so that other settings can be edited. */
function refuseUnknownModels(before: Readonly<Record<string, unknown>>, edit: Readonly<Record<string, unknown>>): void {
  const known = new Set(modelsIn(before));
  const unknown = modelsIn(edit).find((name) => !known.has(name) && !isModelName(name));
  if (unknown === undefined) return;
  throw new AppError("invalid_request", {
    publicMessage: `Unknown model ${JSON.stringify(unknown.slice(0, 200))}. Set it to ${modelForms}.`,
  });
}

/** Refused when it is saved, not when it is read: a later version may have other checks. */
function refuseBadSilencers({ checks }: Readonly<Record<string, unknown>>): void {
  const problem = isRecord(checks) && checks.ignore !== undefined ? ignoreProblem(checks.ignore) : null;
  if (problem !== null) throw new AppError("invalid_request", { publicMessage: `Project settings: ${problem}.` });
}

function modelsIn({
  model,
  models,
  fallbackModels,
  secondReaderModel,
  driftReaderModel,
}: Readonly<Record<string, unknown>>): readonly string[] {
  // Empty ones are refused as every setting is.
  return [model, models, fallbackModels, secondReaderModel, driftReaderModel]
    .flat()
    .filter((name) => typeof name === "string" && name !== "") as string[];
}
