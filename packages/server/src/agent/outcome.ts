import { Value } from "typebox/value";
import type { AgentOutcome, AgentTask, Source, Step } from "./agent.ts";
import type { LimitReached } from "./budget.ts";
import { latestPrompt } from "./conversation.ts";
import { shown } from "./shown.ts";
import { FinishInput, finishTool, handedOver } from "./tools/finish.ts";
import { parseSource } from "./tools/sources.ts";
import type { Finished } from "./tools/tool.ts";

const titleCharactersMax = 72;

/** The merged input of the accepted `finish` calls, or null. */
export function handedOverBy(steps: readonly Pick<Step, "messages">[]): Finished | null {
  const said: Finished[] = [];
  for (const { messages } of steps) {
    const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
    for (const message of messages) {
      if (message.role !== "tool" || message.name !== "finish" || message.isError) continue;
      if (message.output !== handedOver) continue;
      const input = finishTool.read(calls.find((call) => call.id === message.callId)?.input);
      if (Value.Check(FinishInput, input)) said.push(input);
    }
  }
  return said.length === 0 ? null : Object.assign({}, ...said);
}

/** A round's result, if its last step finished it. */
export function finishedBy(round: readonly Pick<Step, "messages">[]): Finished | null {
  return handedOverBy(round.slice(-1)) && handedOverBy(round);
}

export function outcomeOf(finished: Finished, task: AgentTask): AgentOutcome {
  const { summary = "", reply, sources = [], disputes = [] } = finished;
  const isFollowUp = (task.followUps?.length ?? 0) > 0;
  const title = finished.title?.trim() ?? "";
  if (task.overlay.entries().length === 0) return { kind: "unchanged", summary: (isFollowUp && reply) || summary };
  return {
    kind: "finished",
    title: (isFollowUp && reply ? firstSentence(reply) : title) || titleOf(task),
    summary,
    ...(isFollowUp && title && { pullTitle: title }),
    ...(isFollowUp && reply && { reply }),
    ...(sources.length > 0 && { sources: parseSources(sources, task) }),
    ...(disputes.length > 0 && { disputes }),
  };
}

function firstSentence(text: string): string {
  const line = text.trim().split("\n", 1)[0] ?? "";
  return shown(/^.{10,}?[.!?](?=\s|$)/.exec(line)?.[0].slice(0, -1) ?? line, titleCharactersMax);
}

function titleOf(task: AgentTask): string {
  return shown(latestPrompt(task).trim().split("\n", 1)[0] ?? "", titleCharactersMax);
}

/** Each source once. They were verified before the call was accepted. */
function parseSources(words: readonly string[], task: AgentTask): readonly Source[] {
  const known = new Map<string, Source>();
  for (const one of words) {
    const source = parseSource(task.context?.names ?? [], one);
    if (!source) continue;
    // Of ranges that begin at one line the longest counts.
    const key = JSON.stringify([source.repository, source.path, source.line]);
    if ((known.get(key)?.lineEnd ?? 0) <= (source.lineEnd ?? 0)) known.set(key, source);
  }
  return [...known.values()];
}

export function stoppedOutcome({ code, reason }: LimitReached, task: AgentTask): AgentOutcome {
  const files = task.overlay.entries().length;
  const summary = `The work was stopped before it was done: ${reason}. It had changed ${files} ${files === 1 ? "file" : "files"} by then.`;
  return { kind: "stopped", code, title: `Unfinished: ${titleOf(task)}`, summary };
}
