import type { AgentOutcome, AgentTask } from "./agent.ts";
import { latestPrompt } from "./conversation.ts";

const kindsToldMax = 5;

/** Told with what came of it, because whoever asked cannot know otherwise that the agent was not given all they wrote. */
export function tellRedacted(outcome: AgentOutcome, task: Pick<AgentTask, "prompt" | "followUps">): AgentOutcome {
  const marks = new Set(latestPrompt(task).match(/\[redacted: [\w-]{1,60}\]/g));
  if (marks.size === 0) return outcome;
  const shown = [...marks].slice(0, kindsToldMax).map((mark) => `\`${mark}\``);
  const notice = `Where the request says ${shown.join(", ")}, a credential stood. It was taken out before anything was stored, so the agent was not told it. To have one removed from pages, ask by the page or by how the credential begins, and revoke it.`;
  return { ...outcome, summary: `${outcome.summary}\n\n${notice}` };
}
