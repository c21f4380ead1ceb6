import type { Model } from "../agent/agent.ts";
import type { Tracer } from "./tracing.ts";

/** The same model, with a span for each of its turns. */
export function traceModel(tracer: Tracer | null, model: Model): Model {
  if (!tracer) return model;
  return {
    ...model,
    nextTurn: (input, signal) =>
      tracer.span(
        { name: `model ${model.name}`, kind: "client", attributes: { "gen_ai.request.model": model.name } },
        async (span) => {
          const turn = await model.nextTurn(input, signal);
          span.set({
            "gen_ai.usage.input_tokens": turn.usage.inputTokens,
            "gen_ai.usage.output_tokens": turn.usage.outputTokens,
          });
          return turn;
        },
      ),
  };
}
