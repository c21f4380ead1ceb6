import type { RunnerProgram } from "./runner.ts";

export const codex: RunnerProgram = {
  name: "codex",
  command: "codex",
  vendorOf: () => "openai",
  environment: ({ apiKey, baseUrl }) => ({
    CODEX_API_KEY: apiKey,
    OPENAI_API_KEY: apiKey,
    OPENAI_BASE_URL: baseUrl ?? "",
  }),
  arguments: ({ model, isSandboxed }) => [
    "exec",
    "--skip-git-repo-check",
    "--color",
    "never",
    // A sandbox cannot be made inside of ours; outside of it the program's own is better than none.
    "--sandbox",
    isSandboxed ? "danger-full-access" : "workspace-write",
    ...(model === null ? [] : ["--model", model]),
    "-",
  ],
  // Its progress goes to standard error; standard output is the last message alone.
  readAnswer: (stdout) => ({ text: stdout }),
};
