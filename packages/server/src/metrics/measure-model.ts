import type { Model } from "../agent/agent.ts";
import type { Metrics } from "./metrics.ts";

/** The same model, its turns counted. */
export function measureModel(metrics: Metrics, model: Model): Model {
  return {
    ...model,
    async nextTurn(input, signal) {
      const labels = { model: model.name };
      const stopTimer = metrics.modelTurnSeconds.startTimer(labels);
      try {
        const turn = await model.nextTurn(input, signal);
        const { inputTokens, outputTokens, cachedInputTokens, costUsd } = turn.usage;
        metrics.modelTurns.inc({ ...labels, outcome: "answered" });
        metrics.modelTokens.inc({ ...labels, kind: "input" }, inputTokens);
        metrics.modelTokens.inc({ ...labels, kind: "output" }, outputTokens);
        metrics.modelTokens.inc({ ...labels, kind: "cached" }, cachedInputTokens);
        metrics.modelCostUsd.inc(labels, costUsd);
        return turn;
      } catch (error) {
        metrics.modelTurns.inc({ ...labels, outcome: signal.aborted ? "aborted" : "failed" });
        throw error;
      } finally {
        stopTimer();
      }
    },
  };
}
