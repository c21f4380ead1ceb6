import type { CitedEvidence, Evidence } from "@emend/base/evidence.ts";
import type { AgentDeps, AgentOutcome, AgentTask, Source, Step } from "./agent.ts";
import { questionsIn } from "./outcome.ts";
import { readGuidance } from "./system-prompt.ts";
import { readCited } from "./tools/finish.ts";
import { inputOf, isWritingCall } from "./tools/registry.ts";

/** What a language model's statements can rest on. Undefined for the rules, whose words are the request's. */
export async function evidenceOf(
  { model, attachments }: Pick<AgentDeps, "model" | "attachments">,
  task: AgentTask,
  outcome: AgentOutcome,
  signal: AbortSignal,
): Promise<Evidence | undefined> {
  if (model.nature === "rules") return undefined;
  const sources = outcome.kind === "finished" ? (outcome.sources ?? []) : [];
  const attached = ((await attachments?.()) ?? []).map(({ name, text }) => ({ from: name, text: text ?? "" }));
  const guidance = (await readGuidance(task.base, task)).map(({ path, text }) => ({ from: path, text }));
  const given = [...attached, ...guidance].map((one) => ({ kind: "read" as const, ...one }));
  return {
    asked: [task.prompt, ...(task.followUps ?? []).map(({ prompt }) => prompt), ...answersIn(task.steps)],
    // A runner reads files by itself.
    log: model.run ? null : [...given, ...readAndWritten(task.steps)],
    sources: (await Promise.all(sources.map((source) => cite(task, source, signal)))).filter((one) => one !== null),
  };
}

/** What people said while the agent worked, each answer with its question. */
function answersIn(steps: readonly Step[]): readonly string[] {
  return steps.flatMap((step, place) => {
    const [asked] = questionsIn(steps.slice(Math.max(0, place - 1), place));
    const said = interjectionsIn([step]);
    return asked ? said.map((answer) => `Question: ${asked.question}\nAnswer: ${answer}`) : said;
  });
}

/** What people said while the agent worked. */
export function interjectionsIn(steps: readonly Step[]): readonly string[] {
  return steps
    .flatMap(({ messages }) => messages)
    .flatMap((said) => (said.role === "user" && said.from === "interjection" ? [said.text] : []));
}

async function cite(task: AgentTask, source: Source, signal: AbortSignal): Promise<CitedEvidence | null> {
  const context = task.context ?? { names: [], open: () => Promise.reject(new Error("there is no context")) };
  const cited = await readCited({ base: task.base, context }, source, [], signal);
  if (!cited) return null;
  const place = `${source.repository === null ? "" : `@${source.repository}/`}${source.path}:${source.line}`;
  const at = cited.lineEnd > source.line ? `${place}-${cited.lineEnd}` : place;
  return { at, supports: source.supports ?? "", text: cited.text };
}

function readAndWritten(steps: readonly Step[]): NonNullable<Evidence["log"]> {
  return steps.flatMap(({ messages }) => {
    const calls = messages.flatMap((message) => (message.role === "assistant" ? message.toolCalls : []));
    return messages.flatMap((message): NonNullable<Evidence["log"]>[number][] => {
      if (message.role === "assistant") {
        return message.toolCalls
          .filter((call) => isWritingCall(call))
          .map((call) => ({ kind: "wrote", text: stringsOf(inputOf(call)).join("\n") }));
      }
      // What was looked for and not found, or refused, only repeats the question.
      if (message.role !== "tool" || message.isError || repeatsInput.has(message.name)) return [];
      if (repeatsQuestion.test(message.output)) return [];
      const call = calls.find(({ id }) => id === message.callId);
      const asked = stringsOf(call ? inputOf(call) : null).join(" ");
      const from = `${message.name} ${call && isWritingCall(call) ? "" : asked}`.trim().slice(0, 100);
      return [{ kind: "read", text: contentOf(message.output), from }];
    });
  });
}

/** Tools whose answers repeat the agent's own words, and nothing else. */
const repeatsInput = new Set(["finish", "write_file", "edit_file"]);
const repeatsQuestion = /^(?:no matches|none of the newest commits touched |.* is not edited$)/;

/** What a file says, without what a tool adds to it: line numbers, counts and paths that do not exist. */
function contentOf(output: string): string {
  return output
    .split("\n")
    .map((line) =>
      line
        .replace(/^\d+(?:\t|[:-](?: \(code\))? )/, "")
        .replace(/^(?:== )?(.+) \((?:lines [\d-]+ of )?\d+(?: lines)?\)$/, "$1")
        .replace(/^== .*|^\d+ (?:match(?:es)?|files?)\b.*/, ""),
    )
    .join("\n");
}

function stringsOf(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return value !== null && typeof value === "object" ? Object.values(value).flatMap(stringsOf) : [];
}
