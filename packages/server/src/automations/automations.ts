import { requireProject } from "../accounts/projects/projects.ts";
import { type Actor, asActor, consoleActor } from "../db/transaction.ts";
import type { Automation, AutomationDeps, AutomationRun, ForgeHook } from "./automation.ts";
import {
  addAutomation,
  editAutomation,
  findAutomation,
  findHook,
  findRun,
  listAutomations,
  listRuns,
  type NewAutomation,
  removeAutomation,
  setPaused,
} from "./automation-store.ts";
import type { AutomationText } from "./check-automation.ts";
import { fromPreset } from "./presets.ts";
import { dispatchAutomation, recordByHand } from "./runs.ts";

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
      const { projectId, model } = given;
      const text = await fromPreset({ db: pool, defaultModel: deps.defaultModel }, projectId, {
        preset,
        repository,
        model,
      });
      return addAutomation({ db: asActor(pool, by), defaultModel: deps.defaultModel }, { ...text, ...given });
    },
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
