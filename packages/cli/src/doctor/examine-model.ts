import { modelHint } from "../model-hint.ts";
import type { Examination } from "./examine.ts";

export function examineModel(env: NodeJS.ProcessEnv, model: string): Examination {
  const hint = modelHint(env);
  const detail = model === "emend/rules" ? "emend/rules: deterministic, needs no key" : model;
  return { name: "model", verdict: "good", detail, ...(hint === null ? {} : { advice: hint }) };
}
