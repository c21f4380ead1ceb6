import type { DashboardStep } from "@emend/contract";

const textMax = 20_000;

/** A stored turn for those who look closer: what was said, and each call with its answer. */
export function showStep(messages: readonly Record<string, unknown>[]): DashboardStep {
  const said = messages.filter(({ role }) => role === "assistant");
  const answers = new Map(messages.filter(({ role }) => role === "tool").map((answer) => [answer.callId, answer]));
  const calls = said.flatMap(({ toolCalls }) => (Array.isArray(toolCalls) ? toolCalls : []));
  return {
    text: shorten(said.map(({ text }) => String(text ?? "")).join("\n")),
    tools: calls.map((call: { id?: unknown; name?: unknown; input?: unknown }) => {
      const answer = answers.get(call.id);
      return {
        name: String(call.name ?? ""),
        input: shorten(JSON.stringify(call.input, null, 2) ?? ""),
        output: answer ? shorten(String(answer.output ?? "")) : null,
        isError: answer?.isError === true,
      };
    }),
  };
}

function shorten(text: string): string {
  return text.length <= textMax ? text : `${text.slice(0, textMax)}\n… ${text.length - textMax} more characters`;
}
