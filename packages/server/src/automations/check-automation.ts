import { assertNever } from "@emend/base/fault.ts";
import { allowedModels } from "../accounts/projects/project-settings.ts";
import { getProject } from "../accounts/projects/projects.ts";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { ownRepository, pullEvents, type Trigger } from "./automation.ts";
import { nextDue } from "./fire-automations.ts";
import { checkTemplate } from "./template.ts";

/** The editable fields of an automation. */
export interface AutomationText {
  name: string;
  trigger: Trigger;
  prompt: string;
  model: string | null;
}

const nameForm = /^[^\p{Cc}]{1,100}$/u;

/** Refuses everything that would fail permanently later. Returns what its trigger watches. */
export async function checkAutomation(
  deps: { db: Queryable; defaultModel: string },
  projectId: string,
  { name, trigger, prompt, model }: AutomationText,
): Promise<{ repositoryId: string | null }> {
  const project = await getProject(deps.db, projectId);
  if (!project) throw new AppError("not_found", { publicMessage: `project not found: ${projectId}` });
  if (!nameForm.test(name) || name.trim() === "") throw invalid("An automation's name must have 1 to 100 characters.");
  checkTrigger(trigger);
  checkTemplate(prompt, trigger.kind);
  const models = allowedModels(project.settings, deps.defaultModel);
  if (model !== null && !models.includes(model)) {
    throw invalid(`The model must be one that the project allows: ${models.join(", ")}.`);
  }
  const isWatching = trigger.kind === "push" || trigger.kind === "pull_request";
  if (!isWatching || trigger.repository === ownRepository) return { repositoryId: null };
  return { repositoryId: await findRepository(deps.db, projectId, trigger.repository) };
}

/** Names are unique within a project. */
export function nameTaken(name: string): AppError {
  return new AppError("conflict", { publicMessage: `This project already has an automation named "${name}".` });
}

async function findRepository(db: Queryable, projectId: string, name: string): Promise<string> {
  const { rows } = await db.query<{ id: string; name: string }>(
    "select id, name from context_repositories where project_id = $1 order by name",
    [projectId],
  );
  const found = rows.find((row) => row.name === name);
  if (found) return found.id;
  const known = rows.length === 0 ? "it has none" : `it has ${rows.map((row) => row.name).join(", ")}`;
  throw invalid(`The project has no context repository "${name}": ${known}. "." is the docs' own repository.`);
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

const patternsMax = 50;
const patternLengthMax = 300;
// Each `**` costs a walk over the path.
const deepMax = 8;

function checkTrigger(trigger: Trigger): void {
  switch (trigger.kind) {
    case "manual":
    case "webhook":
      return;
    case "cron":
      nextDue(trigger, new Date(0));
      return;
    case "push":
      for (const [name, patterns] of Object.entries({
        branches: trigger.branches,
        tags: trigger.tags,
        include: trigger.include,
        exclude: trigger.exclude,
      })) {
        checkPatterns(name, patterns);
      }
      return;
    case "pull_request":
      if (trigger.on.length === 0 || trigger.on.some((event) => !pullEvents.includes(event))) {
        throw invalidTrigger(`A pull request trigger needs one or more of these events: ${pullEvents.join(", ")}.`);
      }
      for (const [name, patterns] of Object.entries({
        branches: trigger.branches,
        include: trigger.include,
        exclude: trigger.exclude,
      })) {
        checkPatterns(name, patterns);
      }
      return;
    default:
      assertNever(trigger);
  }
}

function checkPatterns(name: string, patterns: readonly string[]): void {
  if (patterns.length > patternsMax) throw invalidTrigger(`${name} has more than ${patternsMax} patterns.`);
  for (const pattern of patterns) {
    const isUsable = pattern !== "" && pattern.length <= patternLengthMax && !/[\p{Cc}]/u.test(pattern);
    if (!isUsable) throw invalidTrigger(`${name} contains a pattern that is empty, too long or invalid.`);
    if (pattern.split("/").filter((part) => part === "**").length > deepMax) {
      throw invalidTrigger(`"${pattern}" has more than ${deepMax} "**".`);
    }
    // A pattern that can match nothing would fail silently.
    if (/^\/|\/$|(^|\/)\.{1,2}(\/|$)|\\/.test(pattern)) {
      throw invalidTrigger(`"${pattern}" matches no path. Write it from the repository's root, for example "src/**".`);
    }
  }
}

function invalidTrigger(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
