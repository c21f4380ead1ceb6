import { isAppError } from "../../errors.ts";
import type { Model } from "../agent.ts";

/** Asks the first model, and where it is not available those after it, in order. The job shows which one answered. */
export function createFallbackModel(models: readonly [Model, ...Model[]]): Model {
  const [first, ...others] = models;
  if (others.length === 0) return first;
  return {
    name: first.name,
    nature: "language",
    contextTokensMax: Math.min(...models.map((model) => model.contextTokensMax ?? Number.POSITIVE_INFINITY)),
    async nextTurn(input, signal) {
      let fault: unknown;
      for (const model of models) {
        try {
          return await model.nextTurn(input, signal);
        } catch (error) {
          if (!isAppError(error, "model_unavailable")) throw error;
          // The first one's words are what its operator must read; a later try is worth it if any may come back.
          fault = isAppError(fault) && (fault.retryable || !error.retryable) ? fault : error;
        }
      }
      throw fault;
    },
  };
}
