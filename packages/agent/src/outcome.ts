import { Value } from "typebox/value";
import type { AgentDeps, AgentOutcome, AgentTask, Limits, Message, Source, Step } from "./agent.ts";
import { AskInput, asked, type Question } from "./tools/ask.ts";
import { FinishInput, finishTool, handedOver, parseSource } from "./tools/finish.ts";
import type { Finished } from "./tools/tool.ts";

const titleCharactersMax = 72;

/** The merged input of the accepted `finish` calls, or null. */
function handedOverBy(steps: readonly Pick<Step, "messages">[]): Finished | null {
  const said = finishesOf(steps);
  return said.some(({ isAccepted }) => isAccepted) ? saidBy(steps) : null;
}

/** What `finish` was told, by a refused call too: its words need not be said again. Of refused ones only words count. */
export function saidBy(steps: readonly Pick<Step, "messages">[]): Finished {
  return Object.assign({}, ...finishesOf(steps).map(({ input, isAccepted }) => (isAccepted ? input : wordsOf(input))));
}

function wordsOf({ title, summary, reply }: Finished): Finished {
  return { ...(title && { title }), ...(summary && { summary }), ...(reply && { reply }) };
}

function finishesOf(steps: readonly Pick<Step, "messages">[]): readonly { input: Finished; isAccepted: boolean }[] {
  return steps.flatMap(({ messages }) => {
    const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
    return messages.flatMap((message) => {
      if (message.role !== "tool" || message.name !== "finish") return [];
      const isAccepted = !message.isError && message.output === handedOver;
      // Beside a refused edit, or after another finish: such a summary describes work that was not done.
      if (!isAccepted && /^not (?:handed over|run): /.test(message.output)) return [];
      const input = finishTool.read(calls.find((call) => call.id === message.callId)?.input);
      return Value.Check(FinishInput, input) ? [{ input, isAccepted }] : [];
    });
  });
}

/** A round's result, if its last step finished it. */
export function finishedBy(round: readonly Pick<Step, "messages">[]): Finished | null {
  const last = round.findLast(({ messages }) => messages.some(isTold));
  return last ? handedOverBy([last]) && handedOverBy(round) : null;
}

/** A second reader's reading says nothing to the agent where there is nothing to repair. */
function isTold(message: Message): boolean {
  return message.role !== "user" || message.from !== "second-reader" || message.text !== "";
}

/** The questions of these steps that a tool accepted, each with its step. */
export function questionsIn(steps: readonly Pick<Step, "messages" | "number">[]): (Question & { step: number })[] {
  return steps.flatMap(({ messages, number }) => {
    const isAsked = (id: string) =>
      messages.some((one) => one.role === "tool" && one.callId === id && one.name === "ask" && one.output === asked);
    const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
    return calls.flatMap(({ id, input }) =>
      isAsked(id) && Value.Check(AskInput, input) ? [{ ...input, step: number }] : [],
    );
  });
}

/** The question that a round waits with. */
export function askedBy(round: readonly Step[]): Extract<AgentOutcome, { kind: "asked" }> | null {
  const [last] = questionsIn(round.slice(-1));
  return last ? { kind: "asked", summary: last.question, options: last.options ?? [], step: last.step } : null;
}

/** The questions of the latest round after which the agent went on without an answer. */
export function unansweredIn(task: Asked, steps: readonly Step[]): readonly string[] {
  const round = latestRound(task, steps);
  return round.flatMap(({ messages }, place) => {
    const isGuess = messages.some((one) => one.role === "user" && one.from === "unanswered");
    return isGuess ? questionsIn(round.slice(Math.max(0, place - 1), place)).map(({ question }) => question) : [];
  });
}

export function outcomeOf(finished: Finished, task: AgentTask): AgentOutcome {
  const { summary = "", reply, sources = [], disputes = [] } = finished;
  const isFollowUp = (task.followUps?.length ?? 0) > 0;
  const title = finished.title?.trim() ?? "";
  if (task.overlay.entries().length === 0) return { kind: "unchanged", summary: (isFollowUp && reply) || summary };
  return {
    kind: "finished",
    title: (isFollowUp ? subjectOf(reply ?? "", task) : title) || titleOf(task),
    summary,
    ...(isFollowUp && title && { pullTitle: title }),
    ...(isFollowUp && reply && { reply }),
    ...(sources.length > 0 && { sources: parseSources(sources, task) }),
    ...(disputes.length > 0 && { disputes }),
  };
}

/** A reply's first sentence if it fits a commit's subject. Otherwise the files say what the commit is about. */
function subjectOf(reply: string, { overlay }: AgentTask): string {
  const line = reply.trim().split("\n", 1)[0] ?? "";
  const sentence = (/^.{10,}?[.!?](?=\s|$)/.exec(line)?.[0] ?? line).replace(/[.!]$/, "");
  if (sentence !== "" && [...sentence].length <= titleCharactersMax) return shown(sentence, titleCharactersMax);
  const [first, ...others] = overlay.entries().map(({ path }) => path.split("/").at(-1) ?? path);
  const more = others.length === 0 ? "" : ` and ${others.length} more ${others.length === 1 ? "file" : "files"}`;
  return shown(`Update ${first}${more}`, titleCharactersMax);
}

function titleOf(task: AgentTask): string {
  return shown(latestPrompt(task).trim().split("\n", 1)[0] ?? "", titleCharactersMax);
}

/** Each source once for a sentence. They were verified before the call was accepted. */
function parseSources(words: readonly string[], task: AgentTask): readonly Source[] {
  const known = new Map<string, Source>();
  for (const one of words) {
    const source = parseSource(task.context?.names ?? [], one);
    if (!source) continue;
    // Of ranges that begin at one line the longest counts.
    const key = JSON.stringify([source.repository, source.path, source.line, source.supports]);
    if ((known.get(key)?.lineEnd ?? 0) <= (source.lineEnd ?? 0)) known.set(key, source);
  }
  return [...known.values()];
}

export function stoppedOutcome({ code, reason }: LimitReached, task: AgentTask): AgentOutcome {
  const files = task.overlay.entries().length;
  const summary = `The work was stopped before it was done: ${reason}. It had changed ${files} ${files === 1 ? "file" : "files"} by then.`;
  return { kind: "stopped", code, title: `Unfinished: ${titleOf(task)}`, summary };
}

export interface LimitReached {
  code: "budget_exceeded" | "timeout";
  reason: string;
}

/**
 * The limit that the steps of a round have reached, or null. Checked before every turn. The cost is the whole job's: `all`.
 */
export function limitReached(limits: Limits, steps: readonly Step[], all: readonly Step[]): LimitReached | null {
  if (steps.length >= limits.stepsMax) {
    return { code: "budget_exceeded", reason: `the limit of ${limits.stepsMax} steps was reached` };
  }
  const tokens = sum(steps, (step) => step.usage.inputTokens + step.usage.outputTokens);
  if (tokens >= limits.tokensMax) {
    return { code: "budget_exceeded", reason: `the limit of ${limits.tokensMax} tokens was reached` };
  }
  const costUsd = sum(all, (step) => step.usage.costUsd);
  // A free model may run with a limit of zero.
  if (costUsd >= limits.costUsdMax && costUsd > 0) {
    return { code: "budget_exceeded", reason: `the limit of $${limits.costUsdMax} was reached` };
  }
  return timeLeftMs(limits, steps) > 0 ? null : timeIsUp(limits);
}

/** What other jobs spend counts too: asked before every turn. A model that costs nothing goes on. */
export async function monthlyLimit(deps: Pick<AgentDeps, "model" | "spentBudget">): Promise<LimitReached | null> {
  const reason = deps.model.nature === "rules" ? null : await deps.spentBudget?.();
  return reason ? { code: "budget_exceeded", reason } : null;
}

/** In whole milliseconds, and no more than a timer can hold. */
export function timeLeftMs(limits: Limits, steps: readonly Step[]): number {
  const left = limits.wallTimeMsMax - sum(steps, (step) => step.usage.durationMs ?? 0);
  return Math.max(0, Math.min(Math.ceil(left), 2 ** 31 - 1));
}

export function timeIsUp(limits: Limits): LimitReached {
  return {
    code: "timeout",
    reason: `the time limit of ${Math.round(limits.wallTimeMsMax / 1000)} seconds was reached`,
  };
}

function sum(steps: readonly Step[], of: (step: Step) => number): number {
  return steps.reduce((total, step) => total + of(step), 0);
}

type Asked = Pick<AgentTask, "prompt" | "followUps" | "plan">;

/** Said in every round, so that all begin with the same bytes. */
const planFirst =
  "Make a plan first: read what you need, edit nothing, and finish with the plan as the summary: each page, and what changes on it. Carry it out after the next message.";

/** Whether the round must change nothing. */
export function isPlanning({ plan = false, followUps = [] }: Asked): boolean {
  return plan && followUps.length === 0;
}

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
  const messages: Message[] = [{ role: "user", text: task.plan ? `${task.prompt}\n\n${planFirst}` : task.prompt }];
  const waiting = [...(task.followUps ?? [])];
  const sayUntil = (stepNumber: number) => {
    while (waiting[0] && waiting[0].afterStep < stepNumber) {
      messages.push({ role: "user", text: waiting.shift()?.prompt ?? "" });
    }
  };
  for (const step of steps) {
    sayUntil(step.number);
    messages.push(...step.messages.filter(isTold));
  }
  sayUntil(Number.POSITIVE_INFINITY);
  return messages;
}

const interjected = "The user says this while you work. It adds to the task, or changes it:";

/**
 * The conversation as the model sees it. The review of a change is shown as the result of its `finish` call, not as a
 * user message.
 */
export function asShown(messages: readonly Message[]): readonly Message[] {
  const shown: Message[] = [];
  for (const message of messages) {
    const last = shown.at(-1);
    const from = message.role === "user" ? message.from : undefined;
    const isReview = from === "review" || from === "self-review" || from === "second-reader";
    if (message.role === "user" && from === "interjection") {
      const heading = isAnswer(shown) ? "The user says after your question:" : interjected;
      shown.push({ ...message, text: `${heading}\n\n${message.text}` });
    } else if (isReview && message.role === "user" && last?.role === "tool" && last.name === "finish")
      shown[shown.length - 1] = { ...last, output: message.text };
    else shown.push(message);
  }
  return shown;
}

/** Whether the latest turn asked a question. */
function isAnswer(shown: readonly Message[]): boolean {
  const turn = shown.slice(shown.findLastIndex(({ role }) => role === "assistant"));
  return turn.some((one) => one.role === "tool" && one.name === "ask" && one.output === asked);
}

/** Text of a prompt, a page or a model, safe to show: one line, no invisible characters, limited length. */
export function shown(text: string, charactersMax: number): string {
  const start = text.slice(0, charactersMax * 4);
  const visible = start
    .replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, " ")
    .trim()
    .toWellFormed();
  const characters = [...visible];
  if (characters.length <= charactersMax && start.length === text.length) return visible;
  return `${characters.slice(0, charactersMax - 1).join("")}…`;
}

/**
 * Postgres stores neither U+0000 nor lone surrogates in JSON: both become U+FFFD before anything reads them, so that
 * what ran and what is stored are the same.
 */
export function storable<T>(value: T): T {
  return clean(value) as T;
}

function clean(value: unknown): unknown {
  if (typeof value === "string") return value.toWellFormed().replaceAll("\0", "\uFFFD");
  if (Array.isArray(value)) return value.map(clean);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [clean(key), clean(inner)]));
}
