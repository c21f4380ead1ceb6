import { readFile } from "node:fs/promises";
import type { AgentTask } from "./agent.ts";
import { withoutFence } from "./openings.ts";

const guidanceFiles = ["AGENTS.md", "CLAUDE.md", ".emend/instructions.md"];
const guidanceBytesMax = 16_000;

/** What a model is told first: our own words, then the project's guidance, fenced as content. */
export async function systemPrompt(task: Pick<AgentTask, "base" | "docsDir">): Promise<string> {
  const ours = await readFile(new URL("./prompt.md", import.meta.url), "utf8");
  const place =
    task.docsDir === "" ? "" : `\nThe documentation is the folder ${task.docsDir}; change nothing outside it.\n`;
  const parts = await Promise.all(guidanceFiles.map((path) => guidance(task, path)));
  return ours + place + parts.join("");
}

async function guidance(task: Pick<AgentTask, "base">, path: string): Promise<string> {
  // The base, not the overlay: an agent must not be able to write its own guidance.
  const bytes = await task.base.read(path);
  if (bytes === null || bytes.byteLength === 0) return "";
  const text = bytes.subarray(0, guidanceBytesMax).toString();
  return `\nThe project's guidance, from ${path}:\n<content>\n${withoutFence(text)}\n</content>\n`;
}
