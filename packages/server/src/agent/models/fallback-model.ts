import { type AppError, isAppError } from "../../errors.ts";
import type { Model } from "../agent.ts";

/** One that was asked in vain, with growing pauses, is not asked at each turn again. */
const restMs = 60_000;

/**
 * Asks the first model, and where it is not available those after it, in order. One that did not answer rests: as long as
 * its vendor said, and to the end of the run where it refused for good. The job shows which one answered.
 */
export function createFallbackModel(models: readonly [Model, ...Model[]], nowMs = () => performance.now()): Model {
  const [first, ...others] = models;
  if (others.length === 0) return first;
  const resting = new Map<Model, { untilMs: number; fault: AppError }>();
  return {
    name: first.name,
    nature: "language",
    contextTokensMax: Math.min(...models.map((model) => model.contextTokensMax ?? Number.POSITIVE_INFINITY)),
    async nextTurn(input, signal) {
      let fault: AppError | undefined;
      // The first one's words are what its operator must read; a later try is worth it if any may come back.
      const note = (next: AppError) => {
        fault = fault && (fault.retryable || !next.retryable) ? fault : next;
      };
      for (const model of models) {
        const rest = resting.get(model);
        if (rest && nowMs() < rest.untilMs) {
          note(rest.fault);
          continue;
        }
        try {
          return await model.nextTurn(input, signal);
        } catch (error) {
          if (!isAppError(error, "model_unavailable")) throw error;
          resting.set(model, { untilMs: nowMs() + restOf(error), fault: error });
          note(error);
        }
      }
      throw fault;
    },
  };
}

function restOf({ retryable, retryAfterMs }: AppError): number {
  return retryAfterMs ?? (retryable ? restMs : Number.POSITIVE_INFINITY);
}
