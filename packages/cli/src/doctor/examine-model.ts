import type { Config, tryModel } from "@emend/server";
import { modelHint } from "../model-hint.ts";
import type { Examination } from "./examine.ts";

/** Asks each configured model one short question: a wrong key is heard of here rather than by a job. */
export async function examineModels(
  deps: { tryModel: typeof tryModel; env: NodeJS.ProcessEnv },
  config: Config,
): Promise<readonly Examination[]> {
  const first = await examineModel(deps, config, config.model);
  const hint = modelHint(deps.env);
  const fallbacks = await Promise.all(
    config.modelFallbacks.map(async (name) => ({ ...(await examineModel(deps, config, name)), name: "fallback" })),
  );
  return [hint === null ? first : { ...first, advice: hint }, ...fallbacks];
}

async function examineModel(deps: { tryModel: typeof tryModel }, config: Config, name: string): Promise<Examination> {
  const trial = await deps.tryModel(config, name);
  if (trial.kind === "unavailable") {
    return {
      name: "model",
      verdict: "bad",
      detail: `${name} is not reachable: ${trial.words}`,
      advice: "Set its key and address, or EMEND_MODEL=emend/rules to work without a model.",
    };
  }
  const isRunner = name.startsWith("runner/");
  if (isRunner)
    return { name: "model", verdict: "good", detail: `${name} is ready: program, key and sandbox are there` };
  const detail =
    name === "emend/rules"
      ? "emend/rules: deterministic, needs no key"
      : `${name} answers, in ${trial.ms} ms${trial.window === undefined ? "" : `; ${trial.window}`}`;
  return { name: "model", verdict: "good", detail };
}
