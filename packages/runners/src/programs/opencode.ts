import type { RunnerAnswer, RunnerProgram } from "../runner.ts";

const usualModel = "anthropic/claude-sonnet-4-5";

export const opencode: RunnerProgram = {
  name: "opencode",
  command: "opencode",
  vendorOf: (model) => (model ?? usualModel).split("/", 1)[0] ?? "",
  asksFor: (model) => (model ?? usualModel).split("/").slice(1).join("/"),
  environment: ({ token, model }) => ({
    [(model ?? usualModel).startsWith("openai/") ? "OPENAI_API_KEY" : "ANTHROPIC_API_KEY"]: token,
    // What it would try to download.
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_PROJECT_CONFIG: "1",
  }),
  homeFiles({ gatewayUrl, model }) {
    const [vendor = ""] = (model ?? usualModel).split("/", 1);
    const config = {
      $schema: "https://opencode.ai/config.json",
      autoupdate: false,
      share: "disabled",
      // It would ask another model for session titles.
      small_model: model ?? usualModel,
      permission: { edit: "allow", bash: "deny", webfetch: "deny" },
      provider: { [vendor]: { options: { baseURL: `${gatewayUrl}/v1` } } },
    };
    return { ".config/opencode/opencode.json": `${JSON.stringify(config, null, 2)}\n` };
  },
  arguments: ({ model }) => ["run", "--format", "json", "--model", model ?? usualModel],
  readAnswer,
};

interface Event {
  type?: string;
  part?: {
    text?: string;
    cost?: number;
    tokens?: { input?: number; output?: number; cache?: { read?: number; write?: number } };
  };
}

/** One event per line: text, and the cost of each step. */
function readAnswer(stdout: string): RunnerAnswer {
  const answer = { text: "", inputTokens: 0, cachedInputTokens: 0, outputTokens: 0, costUsd: 0 };
  for (const line of stdout.split("\n").filter((one) => one.trim() !== "")) {
    const { type, part = {} } = JSON.parse(line) as Event;
    if (type === "error") throw new Error(line);
    // The last text is the result; earlier ones are progress.
    if (type === "text" && part.text) answer.text = part.text;
    const cached = part.tokens?.cache?.read ?? 0;
    answer.inputTokens += (part.tokens?.input ?? 0) + (part.tokens?.cache?.write ?? 0) + cached;
    answer.cachedInputTokens += cached;
    answer.outputTokens += part.tokens?.output ?? 0;
    answer.costUsd += part.cost ?? 0;
  }
  return answer;
}
