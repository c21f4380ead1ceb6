import { type Model, storable } from "@emend/agent";
import { redactSecrets } from "@emend/base/secrets/secrets-in.ts";
import type { Project } from "../accounts/projects/projects.ts";
import type { Reader } from "../claims/drift/reader.ts";
import type { Pool } from "../db/pool.ts";
import { AppError, isAppError } from "../errors.ts";
import { spentBudget } from "../jobs/budget.ts";

interface ReaderDeps {
  pool: Pool;
  /** The installation's model. */
  defaultModel: string;
  openModel(project: Pick<Project, "id" | "settings">, name: string): Promise<Model>;
  knownSecrets(projectId: string): Promise<readonly string[]>;
}

/** The model that answers single questions about a project's docs. Null: it is switched off, or there is none. */
export function createReader(deps: ReaderDeps) {
  return async (project: Pick<Project, "id" | "settings">): Promise<Reader | null> => {
    const { driftReader, driftReaderModel, model: own } = project.settings;
    if (!driftReader) return null;
    const name = driftReaderModel ?? own ?? deps.defaultModel;
    // What is wrong with a model's settings is told by the jobs that need it. The gate works without a model.
    const model = await deps.openModel(project, name).catch((error: unknown) => {
      if (isAppError(error, "model_unavailable")) return null;
      throw error;
    });
    if (model === null || model.nature === "rules" || model.run) return null;
    return {
      model: name,
      async ask({ system, text, tool }, signal) {
        const spent = await spentBudget(deps.pool, project.id);
        if (spent !== null) throw new AppError("model_unavailable", { publicMessage: spent });
        const clean = await redactSecrets(text, await deps.knownSecrets(project.id));
        const messages = [{ role: "user" as const, text: clean }];
        const { toolCalls, usage } = await model.nextTurn({ system, messages, tools: [tool] }, signal);
        const answer = toolCalls.find(({ name: called }) => called === tool.name)?.input ?? null;
        return { answer: storable(answer), costUsd: usage.costUsd };
      },
    };
  };
}
