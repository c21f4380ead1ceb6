import { Value } from "typebox/value";
import type { AgentOutcome, AgentTask, Source, Step } from "./agent.ts";
import type { LimitReached } from "./budget.ts";
import { latestPrompt } from "./conversation.ts";
import { shown } from "./shown.ts";
import { FinishInput } from "./tools/finish.ts";
import { parseSource } from "./tools/sources.ts";

interface Finished {
  title: string;
  summary: string;
  sources: readonly string[];
  pullRequestTitle?: string;
}

const titleCharactersMax = 72;

/** What an accepted `finish` call of this step said. */
export function finishedBy(step: Pick<Step, "messages"> | undefined): Finished | null {
  for (const message of step?.messages ?? []) {
    if (message.role !== "tool" || message.name !== "finish" || message.isError) continue;
    const calls = step?.messages.flatMap((said) => (said.role === "assistant" ? said.toolCalls : [])) ?? [];
    const input = calls.find((call) => call.id === message.callId)?.input;
    if (Value.Check(FinishInput, input)) return { sources: [], ...input, title: input.title.trim() };
  }
  return null;
}

export function outcomeOf({ title, summary, sources, pullRequestTitle }: Finished, task: AgentTask): AgentOutcome {
  if (task.overlay.entries().length === 0) return { kind: "unchanged", summary };
  return {
    kind: "finished",
    title,
    summary,
    ...(pullRequestTitle?.trim() && { pullTitle: pullRequestTitle.trim() }),
    ...(sources.length > 0 && { sources: parseSources(sources, task) }),
  };
}

/** Each once; they were looked up before the call was accepted. */
function parseSources(words: readonly string[], task: AgentTask): readonly Source[] {
  const known = new Map<string, Source>();
  for (const one of words) {
    const source = parseSource(task.context?.names ?? [], one);
    if (source) known.set(JSON.stringify(source), source);
  }
  return [...known.values()];
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
