import { isDeepStrictEqual } from "node:util";
import { requireProject } from "../accounts/projects/projects.ts";
import type { Queryable } from "../db/pool.ts";
import { type Actor, asActor, consoleActor } from "../db/transaction.ts";
import { AppError } from "../errors.ts";
import {
  type Automation,
  type AutomationDeps,
  type AutomationRun,
  automationColumns,
  type ForgeHook,
  runColumns,
} from "./automation.ts";
import { type AutomationText, checkAutomation, nameTaken } from "./check-automation.ts";
import { dispatchAutomation, recordByHand } from "./dispatch-automation.ts";
import { firstDue } from "./fire-automations.ts";
import { fromPreset, listPresets } from "./presets.ts";

/** Ids have this form. The database refuses some other texts, such as U+0000. */
const form = /^[0-9A-Za-z_-]{1,64}$/;

export async function findAutomation(db: Queryable, id: string): Promise<Automation> {
  if (form.test(id)) {
    const { rows } = await db.query<Automation>(`select ${automationColumns} from automations where id = $1`, [id]);
    if (rows[0]) return rows[0];
  }
  throw new AppError("not_found", { publicMessage: `automation not found: ${id.slice(0, 64)}` });
}

/** Of one project or of all, oldest first. */
export async function listAutomations(db: Queryable, projectId: string | null): Promise<readonly Automation[]> {
  const { rows } = await db.query<Automation>(
    `select ${automationColumns} from automations where $1::text is null or project_id = $1 order by created_at, id`,
    [projectId],
  );
  return rows;
}

export interface NewAutomation extends Omit<AutomationText, "model"> {
  projectId: string;
  model?: string | null;
  createdBy: string;
}

export async function addAutomation(
  deps: { db: Queryable; defaultModel: string },
  input: NewAutomation,
): Promise<Automation> {
  const { db } = deps;
  const { projectId, name, trigger, prompt, model = null } = input;
  const { repositoryId } = await checkAutomation(deps, projectId, { name, trigger, prompt, model });
  const { rows } = await db.query<Automation>(
    `insert into automations (project_id, name, trigger, repository_id, prompt, model, due_at, created_by)
     values ($1, $2, $3, $4, $5, $6, $7, $8)
     on conflict (project_id, name) do nothing returning ${automationColumns}`,
    [projectId, name, trigger, repositoryId, prompt, model, await firstDue(db, trigger), input.createdBy],
  );
  if (rows[0]) return rows[0];
  throw nameTaken(name);
}

/** Omitted fields stay. A new trigger starts fresh: earlier pushes do not count. */
async function editAutomation(
  deps: { db: Queryable; defaultModel: string },
  id: string,
  edit: Partial<AutomationText>,
): Promise<Automation> {
  const { db } = deps;
  const before = await findAutomation(db, id);
  const { name, trigger, prompt, model } = { ...before, ...edit };
  const { repositoryId } = await checkAutomation(deps, before.projectId, { name, trigger, prompt, model });
  const isAnew = repositoryId !== before.repositoryId || !isDeepStrictEqual(trigger, before.trigger);
  const dueAt = isAnew ? await firstDue(db, trigger) : before.dueAt;
  const { rowCount } = await db.query(
    `with edited as (
       update automations set name = $2, trigger = $3, repository_id = $4, prompt = $5, model = $6,
         due_at = case when $7 then $8::timestamptz else due_at end,
         webhook_secret = case when $3::jsonb ->> 'kind' = 'webhook' then webhook_secret end
       where id = $1 and not exists (
         select from automations other where other.project_id = automations.project_id and other.name = $2 and other.id <> $1)
       returning id
     ), forgotten as (delete from automation_refs using edited where $7 and automation_id = edited.id)
     select from edited`,
    [id, name, trigger, repositoryId, prompt, model, isAnew, dueAt],
  );
  if (rowCount !== 1) throw nameTaken(name);
  return findAutomation(db, id);
}

/** With its history. Its jobs and their pull requests stay. */
async function removeAutomation(db: Queryable, id: string): Promise<void> {
  await findAutomation(db, id);
  await db.query("delete from automations where id = $1", [id]);
}

/** A paused automation runs only by hand. When resumed it starts fresh: what it missed is not caught up. */
export async function setPaused(db: Queryable, id: string, isPaused: boolean): Promise<Automation> {
  const { trigger, pausedAt } = await findAutomation(db, id);
  if (isPaused) {
    await db.query("update automations set paused_at = clock_timestamp() where id = $1 and paused_at is null", [id]);
  } else if (pausedAt !== null) {
    await db.query(
      `with resumed as (update automations set paused_at = null, due_at = $2 where id = $1 returning id)
       delete from automation_refs using resumed where automation_id = resumed.id`,
      [id, await firstDue(db, trigger)],
    );
  }
  return findAutomation(db, id);
}

const runsShownMax = 50;

/** Its runs, newest first. */
export async function listRuns(db: Queryable, automationId: string): Promise<readonly AutomationRun[]> {
  const { rows } = await db.query<AutomationRun>(
    `select ${runColumns} from automation_runs where automation_id = $1 order by created_at desc, id desc limit $2`,
    [automationId, runsShownMax],
  );
  return rows;
}

async function findRun(db: Queryable, id: string): Promise<AutomationRun> {
  const { rows } = await db.query<AutomationRun>(`select ${runColumns} from automation_runs where id = $1`, [id]);
  return rows[0] as AutomationRun;
}

async function findHook(
  deps: Pick<AutomationDeps, "pool" | "hookOf" | "webhookOf">,
  automation: Automation,
): Promise<ForgeHook | null> {
  if (automation.trigger.kind === "webhook") return (await deps.webhookOf?.(automation.id)) ?? null;
  if (!deps.hookOf || automation.repositoryId === null) return null;
  const { rows } = await deps.pool.query<{ forge: string }>("select forge from context_repositories where id = $1", [
    automation.repositoryId,
  ]);
  const forge = rows[0]?.forge;
  return forge === undefined || forge === "local" ? null : deps.hookOf(automation.projectId, forge);
}

/** What people can do with automations, on the console and, with a named actor, in the dashboard. */
export interface Automations {
  add(input: NewAutomation, by?: Actor): Promise<Automation>;
  /** From a preset; what else is given takes its place. */
  addPreset(
    input: {
      projectId: string;
      preset: string;
      repository?: string | undefined;
      createdBy: string;
    } & Partial<AutomationText>,
    by?: Actor,
  ): Promise<Automation>;
  presets(projectId: string): ReturnType<typeof listPresets>;
  /** Null: of all projects. */
  list(projectId: string | null): Promise<readonly Automation[]>;
  show(id: string): Promise<{ automation: Automation; runs: readonly AutomationRun[]; hook: ForgeHook | null }>;
  /** Requests a run now, paused or not, and returns its result. */
  run(id: string): Promise<AutomationRun>;
  /** Omitted fields stay. */
  edit(id: string, edit: Partial<AutomationText>, by?: Actor): Promise<Automation>;
  pause(id: string, by?: Actor): Promise<Automation>;
  resume(id: string, by?: Actor): Promise<Automation>;
  remove(id: string, by?: Actor): Promise<void>;
}

export function createAutomations(deps: AutomationDeps): Automations {
  const { pool } = deps;
  return {
    add: (input, by = consoleActor) => addAutomation({ db: asActor(pool, by), defaultModel: deps.defaultModel }, input),
    async addPreset({ preset, repository, ...given }, by = consoleActor) {
      const { projectId, model, prompt } = given;
      const asked = { preset, repository, model, prompt };
      const text = await fromPreset({ db: pool, defaultModel: deps.defaultModel }, projectId, asked);
      return addAutomation({ db: asActor(pool, by), defaultModel: deps.defaultModel }, { ...text, ...given });
    },
    presets: (projectId) => listPresets({ db: pool, defaultModel: deps.defaultModel }, projectId),
    async list(projectId) {
      if (projectId !== null) await requireProject(pool, projectId);
      return listAutomations(pool, projectId);
    },
    async show(id) {
      const automation = await findAutomation(pool, id);
      return { automation, runs: await listRuns(pool, id), hook: await findHook(deps, automation) };
    },
    async run(id) {
      const runId = await recordByHand(pool, await findAutomation(pool, id));
      await dispatchAutomation(deps, id);
      return findRun(pool, runId);
    },
    edit: (id, edit, by = consoleActor) =>
      editAutomation({ db: asActor(pool, by), defaultModel: deps.defaultModel }, id, edit),
    pause: (id, by = consoleActor) => setPaused(asActor(pool, by), id, true),
    resume: (id, by = consoleActor) => setPaused(asActor(pool, by), id, false),
    remove: (id, by = consoleActor) => removeAutomation(asActor(pool, by), id),
  };
}
