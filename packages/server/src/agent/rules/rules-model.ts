import { rulesModelName } from "../../lib/model-names.ts";
import type { Message, Model, ToolCall, Usage } from "../agent.ts";
import { callFor, type PlannedCall } from "./calls.ts";
import { describeInstruction } from "./describe.ts";
import { type DoneRound, handOver } from "./hand-over.ts";
import type { Instruction } from "./instruction.ts";
import { notUnderstood } from "./not-understood.ts";
import { parsePrompt } from "./parse-prompt.ts";

type ToolMessage = Extract<Message, { role: "tool" }>;

/**
 * Carries out a documented set of instructions with the same tools that a language model has. It remembers nothing:
 * what comes next follows from the prompt and the answers so far, so a run goes on anywhere after a crash.
 */
export function createRulesModel(): Model {
  return {
    name: rulesModelName,
    nature: "rules",
    async nextTurn({ messages }) {
      // A follow-up stands by itself: what was asked before it is done.
      const asked = messages.findLastIndex((message) => message.role === "user" && message.from === undefined);
      const said = messages[asked];
      const parsed = parsePrompt(said?.role === "user" ? said.text : "");
      if (parsed.kind === "not_understood") throw notUnderstood(parsed);
      const answers = messages.slice(asked + 1).filter((message) => message.role === "tool");
      const calls = nextCalls(parsed.instructions, answers, () => roundsIn(messages.slice(0, asked)));
      return { text: "", toolCalls: calls, usage: noUsage };
    },
  };
}

const noUsage: Usage = { model: rulesModelName, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 };

/** First all look-ups at once, then one instruction a turn in the prompt's order, then the hand-over. */
function nextCalls(
  instructions: readonly Instruction[],
  answers: readonly ToolMessage[],
  earlier: () => readonly DoneRound[],
): readonly ToolCall[] {
  const doubtful = instructions.filter((instruction) => instruction.kind === "rename");
  const lookUps = answers.slice(0, doubtful.length);
  if (lookUps.length < doubtful.length) {
    return doubtful.map(({ from }, index) => toCall({ name: "site_map", input: { find: from } }, index));
  }
  for (const [index, { from }] of doubtful.entries()) refusePageName(from, lookUps[index]);

  const done = answers.slice(doubtful.length);
  const failed = done.findIndex((answer) => answer.isError);
  const failedInstruction = instructions[failed];
  if (failedInstruction) {
    throw notUnderstood({ clause: describeInstruction(failedInstruction), reason: done[failed]?.output ?? "" });
  }
  const next = instructions[done.length];
  const call = next
    ? callFor(next)
    : handOver({ instructions, outputs: done.map((answer) => answer.output) }, earlier());
  return [toCall(call, answers.length)];
}

/** What was asked and done before, as far as it was carried out. */
function roundsIn(messages: readonly Message[]): readonly DoneRound[] {
  const rounds: DoneRound[] = [];
  for (const [at, said] of messages.entries()) {
    if (said.role !== "user" || said.from !== undefined) continue;
    const parsed = parsePrompt(said.text);
    if (parsed.kind === "not_understood") continue;
    const next = messages.findIndex((one, index) => index > at && one.role === "user" && one.from === undefined);
    const answers = messages
      .slice(at + 1, next === -1 ? undefined : next)
      .flatMap((one) => (one.role === "tool" && !one.isError && one.name !== "finish" ? [one.output] : []));
    const lookUps = parsed.instructions.filter(({ kind }) => kind === "rename").length;
    rounds.push({ instructions: parsed.instructions, outputs: answers.slice(lookUps) });
  }
  return rounds;
}

/** A name that a page has too may mean either. */
function refusePageName(name: string, lookUp: ToolMessage | undefined): void {
  if (lookUp && !lookUp.isError && lookUp.output.startsWith("none")) return;
  throw notUnderstood({
    clause: `rename "${name}"`,
    reason: `"${name}" may be a term or a page: write rename the term, or rename the page. The site map says ${lookUp?.output}`,
  });
}

function toCall(call: PlannedCall, index: number): ToolCall {
  return { id: `call-${index + 1}`, ...call };
}
