import type { RunnerProgram } from "../runner.ts";

export const codex: RunnerProgram = {
  name: "codex",
  command: "codex",
  vendorOf: () => "openai",
  asksFor: (model) => model,
  environment: ({ token }) => ({ OPENAI_API_KEY: token }),
  arguments: ({ model, isSandboxed, gatewayUrl }) => [
    "exec",
    "--skip-git-repo-check",
    "--color",
    "never",
    // A nested sandbox is not possible. Without ours, the program's own is better than none.
    "--sandbox",
    isSandboxed ? "danger-full-access" : "workspace-write",
    // The built-in provider uses another transport, reads no URL from the environment and may ask for a login.
    ...settings({
      model_provider: "emend",
      "model_providers.emend.name": "Emend",
      "model_providers.emend.base_url": `${gatewayUrl}/v1`,
      "model_providers.emend.env_key": "OPENAI_API_KEY",
      "model_providers.emend.wire_api": "responses",
      web_search: "disabled",
    }),
    ...(model === null ? [] : ["--model", model]),
    "-",
  ],
  // Progress goes to standard error; standard output has only the last message.
  readAnswer: (stdout) => ({ text: stdout }),
};

function settings(all: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(all).flatMap(([name, value]) => ["--config", `${name}=${JSON.stringify(value)}`]);
}
