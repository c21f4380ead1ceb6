import { Value } from "typebox/value";
import type { Overlay } from "../tree/tree.ts";
import type { AgentOutcome, AgentTask, Step } from "./agent.ts";
import type { LimitReached } from "./budget.ts";
import { latestPrompt } from "./conversation.ts";
import { shown } from "./shown.ts";
import { FinishInput } from "./tools/finish.ts";

interface Finished {
  title: string;
  summary: string;
}

const titleCharactersMax = 72;

/** What an accepted `finish` call of this step said. */
export function finishedBy(step: Pick<Step, "messages"> | undefined): Finished | null {
  for (const message of step?.messages ?? []) {
    if (message.role !== "tool" || message.name !== "finish" || message.isError) continue;
    const calls = step?.messages.flatMap((said) => (said.role === "assistant" ? said.toolCalls : [])) ?? [];
    const input = calls.find((call) => call.id === message.callId)?.input;
    if (Value.Check(FinishInput, input)) return { title: input.title.trim(), summary: input.summary };
  }
  return null;
}

export function outcomeOf({ title, summary }: Finished, overlay: Overlay): AgentOutcome {
  return overlay.entries().length === 0 ? { kind: "unchanged", summary } : { kind: "finished", title, summary };
}

export function stoppedOutcome({ code, reason }: LimitReached, task: AgentTask): AgentOutcome {
  const files = task.overlay.entries().length;
  const summary = `The work was stopped before it was done: ${reason}. It had changed ${files} ${files === 1 ? "file" : "files"} by then.`;
  return {
    kind: "stopped",
    code,
    title: `Unfinished: ${shown(latestPrompt(task).trim().split("\n", 1)[0] ?? "", titleCharactersMax)}`,
    summary,
  };
}
