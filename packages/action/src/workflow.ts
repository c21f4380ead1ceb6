import { randomUUID } from "node:crypto";
import { appendFileSync } from "node:fs";

/** The runner's interface: commands on standard output, files for outputs and the summary. */
export interface Workflow {
  mask(secret: string): void;
  error(message: string): void;
  setOutput(name: string, value: string): void;
  addSummary(markdown: string): void;
}

export function createWorkflow(env: NodeJS.ProcessEnv, print: (line: string) => void): Workflow {
  return {
    mask: (secret) => print(`::add-mask::${escapeData(secret)}`),
    error: (message) => print(`::error title=Emend::${escapeData(message)}`),
    setOutput(name, value) {
      // A random delimiter keeps a value from forging another output.
      const delimiter = `emend-${randomUUID()}`;
      if (env.GITHUB_OUTPUT) appendFileSync(env.GITHUB_OUTPUT, `${name}<<${delimiter}\n${value}\n${delimiter}\n`);
    },
    addSummary(markdown) {
      if (env.GITHUB_STEP_SUMMARY) appendFileSync(env.GITHUB_STEP_SUMMARY, `${markdown}\n`);
    },
  };
}

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}
