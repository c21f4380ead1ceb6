import type { AgentTask, Message, Step } from "./agent.ts";

type Asked = Pick<AgentTask, "prompt" | "followUps">;

/** What was asked last: the first prompt, or the newest follow-up. */
export function latestPrompt(task: Asked): string {
  return task.followUps?.at(-1)?.prompt ?? task.prompt;
}

/** The steps that answer what was asked last. Limits, rounds and `finish` are about these alone. */
export function latestRound(task: Asked, steps: readonly Step[]): readonly Step[] {
  const after = task.followUps?.at(-1)?.afterStep ?? 0;
  return steps.filter((step) => step.number > after);
}

/** Everything said so far, each follow-up where it was asked. */
export function conversationOf(task: Asked, steps: readonly Step[]): Message[] {
  const messages: Message[] = [{ role: "user", text: task.prompt }];
  const waiting = [...(task.followUps ?? [])];
  const sayUntil = (stepNumber: number) => {
    while (waiting[0] && waiting[0].afterStep < stepNumber) {
      messages.push({ role: "user", text: waiting.shift()?.prompt ?? "" });
    }
  };
  for (const step of steps) {
    sayUntil(step.number);
    messages.push(...step.messages);
  }
  sayUntil(Number.POSITIVE_INFINITY);
  return messages;
}
