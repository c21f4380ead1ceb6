import { allowedModels } from "../accounts/project-settings.ts";
import { requireProject } from "../accounts/require-project.ts";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { type Automation, automationColumns, type Trigger } from "./automation.ts";
import { checkTrigger } from "./check-trigger.ts";
import { firstDue } from "./first-due.ts";
import { checkTemplate } from "./template.ts";

export interface NewAutomation {
  projectId: string;
  name: string;
  trigger: Trigger;
  prompt: string;
  model?: string | null;
  createdBy: string;
}

const nameForm = /^[^\p{Cc}]{1,100}$/u;

/** Everything that could go wrong later for good is refused here, in words. */
export async function addAutomation(
  deps: { db: Queryable; defaultModel: string },
  input: NewAutomation,
): Promise<Automation> {
  const { db } = deps;
  const { name, trigger, prompt, model = null } = input;
  const project = await requireProject(db, input.projectId);
  if (!nameForm.test(name) || name.trim() === "") throw invalid("An automation's name has 1 to 100 characters.");
  checkTrigger(trigger);
  checkTemplate(prompt, trigger.kind);
  const models = allowedModels(project.settings, deps.defaultModel);
  if (model !== null && !models.includes(model)) {
    throw invalid(`The model must be one that the project allows: ${models.join(", ")}.`);
  }
  const repositoryId = trigger.kind === "push" ? await findRepository(db, project.id, trigger.repository) : null;
  const { rows } = await db.query<Automation>(
    `insert into automations (project_id, name, trigger, repository_id, prompt, model, due_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (project_id, name) do nothing returning ${automationColumns}`,
    [project.id, name, trigger, repositoryId, prompt, model, await firstDue(db, trigger), input.createdBy],
  );
  if (rows[0]) return rows[0];
  throw new AppError("conflict", { publicMessage: `The project has an automation "${name}" already.` });
}

async function findRepository(db: Queryable, projectId: string, name: string): Promise<string> {
  const { rows } = await db.query<{ id: string; name: string }>(
    "select id, name from context_repositories where project_id = $1 order by name",
    [projectId],
  );
  const found = rows.find((row) => row.name === name);
  if (found) return found.id;
  const known = rows.length === 0 ? "it has none" : `it has ${rows.map((row) => row.name).join(", ")}`;
  throw invalid(`The project has no context repository "${name}": ${known}.`);
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
