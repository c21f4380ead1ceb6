import type { Model, Usage } from "../agent/agent.ts";
import type { Metrics } from "./metrics.ts";

/** The same model, its turns counted. */
export function measureModel(metrics: Metrics, model: Model): Model {
  const { run } = model;
  return {
    ...model,
    // A program takes no turns that could be timed; what its steps say is counted.
    ...(run && {
      run: (deps, task, signal) =>
        run(
          {
            ...deps,
            async saveStep(step, edits) {
              await deps.saveStep(step, edits);
              count(metrics, model.name, step.usage);
            },
          },
          task,
          signal,
        ),
    }),
    async nextTurn(input, signal) {
      const labels = { model: model.name };
      const stopTimer = metrics.modelTurnSeconds.startTimer(labels);
      try {
        const turn = await model.nextTurn(input, signal);
        count(metrics, model.name, turn.usage);
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

function count(metrics: Metrics, model: string, usage: Usage): void {
  metrics.modelTurns.inc({ model, outcome: "answered" });
  metrics.modelTokens.inc({ model, kind: "input" }, usage.inputTokens);
  metrics.modelTokens.inc({ model, kind: "output" }, usage.outputTokens);
  metrics.modelTokens.inc({ model, kind: "cached" }, usage.cachedInputTokens);
  metrics.modelCostUsd.inc({ model }, usage.costUsd);
}
