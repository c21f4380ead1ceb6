import type { TotalUsage } from "./publication.ts";
import { codeSpan } from "./quiet-text.ts";

/** Which model made a change, and what it took. */
export function madeBy(model: string, usage: TotalUsage): string {
  if (model === "emend/rules") return "Made by `emend/rules`, which is deterministic: no language model took part.";
  const cached = usage.cachedInputTokens > 0 ? ` (${count(usage.cachedInputTokens)} of them cached)` : "";
  const tokens = `${count(usage.inputTokens)} tokens in${cached}, ${count(usage.outputTokens)} out`;
  const cost = usage.costUsd > 0 ? `, $${usage.costUsd.toFixed(usage.costUsd < 0.1 ? 4 : 2)}` : "";
  return `Made by Emend with ${codeSpan(model)} in ${usage.steps} ${usage.steps === 1 ? "step" : "steps"}: ${tokens}${cost}.`;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}
