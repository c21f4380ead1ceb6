import type { AgentTask, Message, Step } from "./agent.ts";

type Asked = Pick<AgentTask, "prompt" | "followUps">;

/** The first prompt, or the newest follow-up. */
export function latestPrompt(task: Asked): string {
  return task.followUps?.at(-1)?.prompt ?? task.prompt;
}

/** The steps since the latest prompt. Limits, rounds and `finish` apply only to these. */
export function latestRound(task: Asked, steps: readonly Step[]): readonly Step[] {
  const after = task.followUps?.at(-1)?.afterStep ?? 0;
  return steps.filter((step) => step.number > after);
}

/** All messages so far, each follow-up in its place. */
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

/**
 * The conversation as the model sees it. The review of a change is shown as the result of its `finish` call, not as a
 * user message.
 */
export function asShown(messages: readonly Message[]): readonly Message[] {
  const shown: Message[] = [];
  for (const message of messages) {
    const last = shown.at(-1);
    const isReview = message.role === "user" && (message.from === "review" || message.from === "self-review");
    if (isReview && last?.role === "tool" && last.name === "finish")
      shown[shown.length - 1] = { ...last, output: message.text };
    else shown.push(message);
  }
  return shown;
}
