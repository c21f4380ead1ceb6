import type { Message, Step, ToolCall } from "./agent.ts";
import { isWritingCall } from "./tools/registry.ts";

const sameCallsMax = 2;
const wastedStepsMax = 6;

/** Steps in a row that got nothing done: only prose, or only calls that failed. */
export function isGettingNowhere(steps: readonly Step[]): boolean {
  const lately = steps.slice(-wastedStepsMax);
  return lately.length === wastedStepsMax && lately.every(isWasted);
}

function isWasted(step: Step): boolean {
  return !step.messages.some((message) => message.role === "tool" && !message.isError);
}

/** Made twice already since anything else was written or said: a third time would answer the same. */
export function isRepeated(call: ToolCall, conversation: readonly Message[]): boolean {
  const key = keyOf(call);
  const failed = new Set<string>();
  let same = 0;
  for (const message of conversation.toReversed()) {
    // Somebody said something new: even the same call may be right now.
    if (message.role === "user" && message.from !== "loop") break;
    if (message.role === "tool" && message.isError) failed.add(message.callId);
    if (message.role !== "assistant") continue;
    for (const earlier of message.toolCalls.toReversed()) {
      if (keyOf(earlier) === key) same += 1;
      else if (isWritingCall(earlier) && !failed.has(earlier.id)) return same >= sameCallsMax;
    }
  }
  return same >= sameCallsMax;
}

function keyOf(call: ToolCall): string {
  return `${call.name} ${JSON.stringify(call.input)}`;
}
