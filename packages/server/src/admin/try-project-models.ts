import { openModelKey } from "../accounts/keys/model-keys.ts";
import { allowedModels } from "../accounts/projects/project-settings.ts";
import type { Project } from "../accounts/projects/projects.ts";
import type { Sealer } from "../accounts/secrets.ts";
import type { Queryable } from "../db/pool.ts";
import type { ModelTrial, tryModel } from "./try-model.ts";

const modelsTriedMax = 10;

interface TryDeps {
  config: Parameters<typeof tryModel>[0];
  db: Queryable;
  sealer: Sealer;
}

/** Each model that the project's jobs may use, asked with their key. */
export async function tryProjectModels(deps: TryDeps, project: Project): Promise<readonly ModelTrial[]> {
  const { config, ...keys } = deps;
  const { settings } = project;
  const fallbacks = settings.fallbackModels ?? config.modelFallbacks;
  const names = [...new Set([...allowedModels(settings, config.model), ...fallbacks])].slice(0, modelsTriedMax);
  // Imported here: the model modules would make every other command start slowly.
  const trial = await import("./try-model.ts");
  const keyOf = (projectId: string, vendor: string) => openModelKey(keys, projectId, vendor);
  return Promise.all(names.map((name) => trial.tryModel(config, name, { id: project.id, keyOf })));
}
