import type { RunnerAnswer, RunnerProgram } from "../runner.ts";

export const claudeCode: RunnerProgram = {
  name: "claude-code",
  command: "claude",
  vendorOf: () => "anthropic",
  environment: ({ token, gatewayUrl }) => ({
    ANTHROPIC_API_KEY: token,
    // The program adds the version itself.
    ANTHROPIC_BASE_URL: gatewayUrl,
    // Telemetry and updates would only fail.
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
  }),
  arguments: ({ model }) => [
    "--print",
    "--output-format",
    "json",
    "--permission-mode",
    "acceptEdits",
    "--allowedTools",
    "Read,Edit,MultiEdit,Write,Glob,Grep,LS,TodoWrite",
    "--disallowedTools",
    "Bash,WebFetch,WebSearch",
    ...(model === null ? [] : ["--model", model]),
  ],
  readAnswer,
};

interface Result {
  is_error?: boolean;
  result?: unknown;
  total_cost_usd?: number;
  usage?: {
    input_tokens?: number;
    cache_read_input_tokens?: number;
    cache_creation_input_tokens?: number;
    output_tokens?: number;
  };
}

function readAnswer(stdout: string): RunnerAnswer {
  const said = JSON.parse(stdout) as Result;
  if (said.is_error === true || typeof said.result !== "string") throw new Error(String(said.result ?? "no result"));
  const { usage = {} } = said;
  const cached = usage.cache_read_input_tokens ?? 0;
  return {
    text: said.result,
    inputTokens: (usage.input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0) + cached,
    cachedInputTokens: cached,
    outputTokens: usage.output_tokens ?? 0,
    costUsd: said.total_cost_usd ?? 0,
  };
}
