import type { AgentDeps, Message, Model, ToolCall } from "@emend/agent";
import type { Attributes, Tracer } from "./tracing.ts";

/** Spans of an agent, its model and its tools, by OpenTelemetry's conventions for generative AI. */
interface AgentTrace {
  /** Wraps the whole work of an agent. */
  agent<T>(model: Model, work: () => Promise<T>): Promise<T>;
  model(model: Model): Model;
  watchTool: AgentDeps["watchTool"];
}

/** The conventions' names of vendors. A compatible server speaks OpenAI's protocol. */
const providers: Readonly<Record<string, string>> = {
  anthropic: "anthropic",
  openai: "openai",
  google: "gcp.gemini",
  bedrock: "aws.bedrock",
  vertex: "gcp.vertex_ai",
  azure: "azure.ai.openai",
  compatible: "openai",
};

/** Takes credentials out. */
type Redact = (text: string) => Promise<string>;

export function traceAgent(tracer: Tracer | null, jobId: string, redact: Redact): AgentTrace {
  if (!tracer) return { agent: (_, work) => work(), model: (model) => model, watchTool: undefined };
  const shown = tracer.isContentWanted ? redact : null;
  const conversation = { "gen_ai.conversation.id": jobId };
  return {
    agent(model, work) {
      // Rules are no generative AI.
      if (model.nature === "rules") return work();
      const attributes = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "emend",
        ...requestOf(model.name),
        ...conversation,
      };
      return tracer.span({ name: "invoke_agent emend", kind: "internal", attributes }, work);
    },
    model: (model) => traceModel(tracer, model, { attributes: conversation, redact: shown }),
    watchTool(call, run) {
      const name = toolName(call);
      const attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": name,
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call.id.slice(0, 64),
        ...conversation,
      };
      return tracer.span({ name: `execute_tool ${name}`, kind: "internal", attributes }, async (span) => {
        if (shown) span.set({ "gen_ai.tool.call.arguments": JSON.stringify(await redactAll(call.input, shown)) });
        const result = await run();
        if (shown) span.set({ "gen_ai.tool.call.result": JSON.stringify(await shown(result.output)) });
        if (result.isError) {
          span.set({ "error.type": "refused" });
          span.fail();
        }
        return result;
      });
    },
  };
}

/** Wraps a model, with a span for each turn. */
export function traceModel(
  tracer: Tracer | null,
  model: Model,
  { attributes, redact }: { attributes: Attributes; redact: Redact | null } = { attributes: {}, redact: null },
): Model {
  if (!tracer) return model;
  const about =
    model.nature === "rules"
      ? { name: `model ${model.name}`, attributes: {} }
      : {
          name: `chat ${idOf(model.name)}`,
          attributes: { "gen_ai.operation.name": "chat", ...requestOf(model.name), ...attributes },
        };
  return {
    ...model,
    nextTurn: (input, signal) =>
      tracer.span({ ...about, kind: "client" }, async (span) => {
        if (redact) {
          span.set({
            "gen_ai.system_instructions": JSON.stringify([{ type: "text", content: await redact(input.system) }]),
            "gen_ai.input.messages": JSON.stringify(
              await Promise.all(input.messages.map((one) => shownAs(one, redact))),
            ),
          });
        }
        const turn = await model.nextTurn(input, signal);
        if (model.nature === "rules") return turn;
        const finish_reason = turn.toolCalls.length > 0 ? "tool_call" : "stop";
        span.set({
          // A fallback may have answered.
          "gen_ai.provider.name": providerOf(turn.usage.model),
          "gen_ai.response.model": idOf(turn.usage.model),
          "gen_ai.response.finish_reasons": [finish_reason],
          "gen_ai.usage.input_tokens": turn.usage.inputTokens,
          "gen_ai.usage.output_tokens": turn.usage.outputTokens,
          "gen_ai.usage.cache_read.input_tokens": turn.usage.cachedInputTokens,
        });
        if (redact) {
          const said = await shownAs({ role: "assistant", text: turn.text, toolCalls: turn.toolCalls }, redact);
          span.set({ "gen_ai.output.messages": JSON.stringify([{ ...said, finish_reason }]) });
        }
        return turn;
      }),
  };
}

function requestOf(model: string): Attributes {
  return { "gen_ai.provider.name": providerOf(model), "gen_ai.request.model": idOf(model) };
}

function providerOf(model: string): string {
  return providers[model.slice(0, model.indexOf("/"))] ?? "emend";
}

function idOf(model: string): string {
  return model.slice(model.indexOf("/") + 1);
}

/** A model can call a tool anything. */
function toolName({ name }: ToolCall): string {
  return /^[a-z0-9_]{1,64}$/.test(name) ? name : "unknown";
}

async function redactAll(value: unknown, redact: Redact): Promise<unknown> {
  if (typeof value === "string") return redact(value);
  if (Array.isArray(value)) return Promise.all(value.map((one) => redactAll(one, redact)));
  if (value === null || typeof value !== "object") return value ?? null;
  const pairs = Object.entries(value).map(async ([name, one]) => [name, await redactAll(one, redact)]);
  return Object.fromEntries(await Promise.all(pairs));
}

/** A message in the conventions' form. */
async function shownAs(message: Message, redact: Redact): Promise<{ role: string; parts: object[] }> {
  if (message.role === "user") {
    return { role: "user", parts: [{ type: "text", content: await redact(message.text) }] };
  }
  if (message.role === "tool") {
    const response = await redact(message.output);
    return { role: "tool", parts: [{ type: "tool_call_response", id: message.callId, response }] };
  }
  const calls = message.toolCalls.map(async ({ id, name, input }) => {
    return { type: "tool_call", id, name, arguments: await redactAll(input, redact) };
  });
  const text = message.text === "" ? [] : [{ type: "text", content: await redact(message.text) }];
  return { role: "assistant", parts: [...text, ...(await Promise.all(calls))] };
}
