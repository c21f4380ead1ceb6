import type { Limits, Message, Model, ToolCall } from "../../agent/src/agent.ts";

/** A turn of a script: tool calls by name and input, or only text. */
export type ScriptedTurn = string | ReadonlyArray<[name: string, input: unknown]>;

/** A model that follows a script and records its requests. */
export function scriptedModel(
  script: (turn: number, messages: readonly Message[]) => ScriptedTurn,
  options: { nature?: "language" | "rules"; costUsd?: number; tokens?: number } = {},
): Model & { asked: Array<readonly Message[]>; systems: string[] } {
  const asked: Array<readonly Message[]> = [];
  const systems: string[] = [];
  return {
    name: "test/scripted",
    nature: options.nature ?? "language",
    asked,
    systems,
    async nextTurn({ messages, system }) {
      asked.push(messages);
      systems.push(system);
      const turn = messages.filter((message) => message.role === "assistant").length;
      const said = script(turn, messages);
      const calls = typeof said === "string" ? [] : said;
      const toolCalls: ToolCall[] = calls.map(([name, input], index) => ({ id: `${turn}-${index}`, name, input }));
      return {
        text: typeof said === "string" ? said : "",
        toolCalls,
        usage: {
          model: "test/scripted",
          inputTokens: options.tokens ?? 10,
          outputTokens: 1,
          cachedInputTokens: 0,
          costUsd: options.costUsd ?? 0,
        },
      };
    },
  };
}

export const testLimits: Limits = {
  stepsMax: 60,
  tokensMax: 2_000_000,
  costUsdMax: 2,
  wallTimeMsMax: 20 * 60_000,
  toolOutputBytesMax: 32_000,
};
