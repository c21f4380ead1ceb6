import { assertNever } from "@emend/base/fault.ts";
import { reachesOut } from "@emend/base/markdown.ts";
import { rulesModelName } from "@emend/base/model-names.ts";
import type { Skipped } from "@emend/site";
import type { Message, Model, ToolCall, Usage } from "../agent.ts";
import { shown } from "../outcome.ts";
import { parseReport, type Report } from "../tools/report.ts";
import { isPathLike } from "./form.ts";
import { notUnderstood } from "./hints.ts";
import { describeInstruction, type Instruction } from "./instruction.ts";
import { createNames, parseNames, type SiteNames } from "./names.ts";
import { parsePrompt } from "./parse-prompt.ts";

type ToolMessage = Extract<Message, { role: "tool" }>;

/**
 * Runs a documented set of instructions with the tools that a language model has. It is stateless: the next call
 * follows from the prompt and the results so far, so a run can continue anywhere after a crash.
 */
export function createRulesModel(): Model {
  return {
    name: rulesModelName,
    nature: "rules",
    async nextTurn({ messages }) {
      // A follow-up is independent: earlier instructions are done.
      const asked = messages.findLastIndex((message) => message.role === "user" && message.from === undefined);
      const said = messages[asked];
      const prompt = said?.role === "user" ? said.text : "";
      const answers = messages.slice(asked + 1).filter((message) => message.role === "tool");
      const reading = readOnSite(prompt, answers);
      if (reading.kind === "look_up") {
        const call = { name: "site_map", input: { namesIn: prompt.slice(0, promptCharactersMax) } };
        return { text: "", toolCalls: [toCall(call, 0)], usage: noUsage };
      }
      if (reading.kind === "not_understood") throw notUnderstood(reading);
      const calls = nextCalls(reading, answers.length, () => roundsIn(messages.slice(0, asked)));
      return { text: "", toolCalls: calls, usage: noUsage };
    },
  };
}

/** The names of a prompt are within its beginning. The rest is text of new pages. */
const promptCharactersMax = 20_000;

interface Understood {
  kind: "understood";
  instructions: readonly Instruction[];
  done: readonly ToolMessage[];
  /** If they were looked up. */
  names?: SiteNames;
}

type OnSite =
  | { kind: "look_up" }
  | Understood
  | { kind: "not_understood"; clause: string; reason: string; names: SiteNames };

/** Reads the prompt with the names of the site, unless it needs none: each page is given by its path. */
function readOnSite(prompt: string, answers: readonly ToolMessage[]): OnSite {
  const alone = parsePrompt(prompt);
  if (alone.kind === "understood" && alone.instructions.every(isExplicit)) return { ...alone, done: answers };
  const [lookUp, ...done] = answers;
  if (!lookUp) return { kind: "look_up" };
  const names = parseNames(lookUp.isError ? "" : lookUp.output);
  const parsed = parsePrompt(prompt, { names: createNames(names) });
  return parsed.kind === "understood" ? { ...parsed, done, names } : { ...parsed, names };
}

/** Whether an instruction says what it means on any site. */
function isExplicit(instruction: Instruction): boolean {
  switch (instruction.kind) {
    case "rename":
      return false;
    case "move_page":
      return instruction.into === undefined && [instruction.from, instruction.to].every(isPathLike);
    case "fix_links":
    case "replace_term":
      return instruction.under === undefined || isPathLike(instruction.under);
    case "remove_page":
      return [instruction.page, instruction.to].every(isPathLike);
    case "add_redirect":
      return isPathLike(instruction.to);
    case "order_navigation":
      return instruction.pages.every(isPathLike);
    case "add_page":
    case "rename_group":
    case "renew_screenshots":
      return true;
    case "list_page":
    case "unlist_page":
    case "set_front_matter":
    case "rename_heading":
    case "move_section":
      return isPathLike(instruction.page);
    default:
      return assertNever(instruction);
  }
}

const noUsage: Usage = { model: rulesModelName, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 };

/** One instruction per turn in the prompt's order, then `finish`. */
function nextCalls(
  { instructions, done, names }: Understood,
  calls: number,
  earlier: () => readonly DoneRound[],
): readonly ToolCall[] {
  const failed = done.findIndex((answer) => answer.isError);
  const failedInstruction = instructions[failed];
  if (failedInstruction) {
    const clause = describeInstruction(failedInstruction);
    throw notUnderstood({ clause, reason: done[failed]?.output ?? "", ...(names && { names }) });
  }
  const next = instructions[done.length];
  const call = next
    ? callFor(next)
    : handOver({ instructions, outputs: done.map((answer) => answer.output) }, earlier());
  return [toCall(call, calls)];
}

/** Earlier prompts and results, as far as they were completed. */
function roundsIn(messages: readonly Message[]): readonly DoneRound[] {
  const rounds: DoneRound[] = [];
  for (const [at, said] of messages.entries()) {
    if (said.role !== "user" || said.from !== undefined) continue;
    const next = messages.findIndex((one, index) => index > at && one.role === "user" && one.from === undefined);
    const answers = messages
      .slice(at + 1, next === -1 ? undefined : next)
      .filter((one) => one.role === "tool" && !one.isError && one.name !== "finish") as readonly ToolMessage[];
    const reading = readOnSite(said.text, answers);
    if (reading.kind !== "understood") continue;
    rounds.push({ instructions: reading.instructions, outputs: reading.done.map(({ output }) => output) });
  }
  return rounds;
}

function toCall(call: PlannedCall, index: number): ToolCall {
  return { id: `call-${index + 1}`, ...call };
}

const titleCharactersMax = 120;
// For 50 instructions, the total stays below the limit of `finish`.
const leftAloneMax = 20;
const linesMax = 50;
const orderCharactersMax = 140;
const detailCharactersMax = 160;

interface DoneRound {
  instructions: readonly Instruction[];
  /** The tools' results, in the same order. */
  outputs: readonly string[];
}

/**
 * The `finish` call: what was done in numbers, what was skipped and why, and that no model was used. After earlier
 * rounds, the summary covers all of them and the reply only this one.
 */
export function handOver({ instructions, outputs }: DoneRound, earlier: readonly DoneRound[] = []): PlannedCall {
  const reports = outputs.map(parseReport);
  const all = [...earlier, { instructions, outputs }].flatMap((round) => doneLines(round));
  const left = Math.max(0, all.length - linesMax);
  const lines = [...(left > 0 ? [`- and ${left} before these`] : []), ...all.slice(left)];
  const isChanged = reports.some((report) => report.files > 0);
  const intro = isChanged
    ? "Carried out by `emend/rules`, deterministically: no AI was involved."
    : `${unchanged(instructions, reports)} \`emend/rules\` looked, deterministically: no AI was involved.`;
  const summary = [intro, "", ...lines, ...leftAlone(reports)].join("\n");
  const title = titleOf(instructions);
  return { name: "finish", input: earlier.length === 0 ? { title, summary } : { summary, reply: title } };
}

function doneLines({ instructions, outputs }: DoneRound): readonly string[] {
  return instructions.map((instruction, index) => `- ${doneLine(instruction, parseReport(outputs[index] ?? ""))}`);
}

/** A site with links that stay broken is not "nothing to change". */
function unchanged(instructions: readonly Instruction[], reports: readonly Report[]): string {
  const broken = reports.reduce((sum, report, index) => sum + withoutFix(instructions[index], report), 0);
  if (broken === 0) return "Nothing had to change.";
  return broken === 1
    ? "The one broken link has no certain fix."
    : `None of the ${broken} broken links has a certain fix.`;
}

function withoutFix(instruction: Instruction | undefined, report: Report): number {
  return instruction?.kind === "fix_links" ? report.skipped.length + report.skippedMore : 0;
}

function titleOf(instructions: readonly Instruction[]): string {
  const orders = instructions.map((instruction) => shown(describeInstruction(instruction), orderCharactersMax));
  const [first = "", ...others] = orders;
  const last = others.at(-1);
  const whole = last === undefined ? first : `${[first, ...others.slice(0, -1)].join(", ")} and ${last}`;
  const title = whole.length <= titleCharactersMax ? whole : shorten(first, others.length);
  const sentence = title.charAt(0).toUpperCase() + title.slice(1);
  // A term or name may contain a link, so the title shows it as code.
  return reachesOut(sentence) ? codeSpan(sentence, titleCharactersMax) : sentence;
}

function shorten(first: string, others: number): string {
  const more = others === 0 ? "" : ` and ${others} more ${others === 1 ? "change" : "changes"}`;
  const room = titleCharactersMax - more.length;
  return shown(first, room) + more;
}

function doneLine(instruction: Instruction, report: Report | undefined): string {
  const order = codeSpan(describeInstruction(instruction), orderCharactersMax);
  const broken = report ? withoutFix(instruction, report) : 0;
  const left = broken === 0 ? "" : `${amount("links", broken)} without a certain fix`;
  if (!report || report.files === 0) return `${order}: ${left || "nothing to do"}`;
  const counts = [...report.counts].filter(([, count]) => count > 0).map(([what, count]) => amount(what, count));
  return `${order}: ${[...counts, `in ${amount("files", report.files)}`].join(", ")}${left && `; ${left}`}`;
}

const singulars: Readonly<Record<string, string>> = {
  files: "file",
  pages: "page",
  links: "link",
  anchors: "anchor",
  navigation: "navigation entry",
  redirects: "redirect",
  replacements: "replacement",
  headings: "heading",
  fields: "field",
  screenshots: "screenshot",
};

function amount(what: string, count: number): string {
  const one = singulars[what] ?? what;
  const many = what === "navigation" ? "navigation entries" : what;
  return `${count} ${count === 1 ? one : many}`;
}

function leftAlone(reports: readonly Report[]): readonly string[] {
  const skipped = reports.flatMap((report) => report.skipped);
  if (skipped.length === 0) return [];
  const shown = skipped.slice(0, leftAloneMax);
  const missing = skipped.length - shown.length + reports.reduce((sum, report) => sum + report.skippedMore, 0);
  return ["", "Left alone:", "", ...shown.map(skippedLine), ...(missing > 0 ? [`- and ${missing} more`] : [])];
}

function skippedLine({ path, line, reason }: Skipped): string {
  const visible = shown(reason, detailCharactersMax);
  const isPlain = /^[\p{L}\p{N} .,;'"“”()-]*$/u.test(visible.replaceAll(/`[^`]*`/g, ""));
  return `- ${codeSpan(`${path}:${line}`, detailCharactersMax)}: ${isPlain ? visible : codeSpan(reason, detailCharactersMax)}`;
}

/** Shown as code: content of a page or prompt must not become a link, an image or a heading in the pull request. */
function codeSpan(text: string, charactersMax: number): string {
  return `\`${shown(text, charactersMax).replaceAll("`", "'")}\``;
}

interface PlannedCall {
  name: string;
  input: Record<string, unknown>;
}

/** The tool call for an instruction. */
function callFor(instruction: Instruction): PlannedCall {
  switch (instruction.kind) {
    case "replace_term": {
      const { from, to, under, includeCode } = instruction;
      return { name: "replace_term", input: { from, to, includeCode, ...(under === undefined ? {} : { under }) } };
    }
    case "rename":
      return { name: "replace_term", input: { from: instruction.from, to: instruction.to } };
    case "move_page": {
      const { from, to, into } = instruction;
      return { name: "rename_page", input: { from, to: into === undefined ? to : `${into}/` } };
    }
    case "remove_page":
      return { name: "delete_file", input: { path: instruction.page, to: instruction.to } };
    case "fix_links":
      return {
        name: "fix_links",
        input: {
          ...(instruction.under !== undefined && { under: instruction.under }),
          ...(instruction.only !== undefined && { only: instruction.only }),
        },
      };
    case "renew_screenshots":
      return { name: "renew_screenshots", input: {} };
    case "add_page": {
      const { kind: _, ...input } = instruction;
      return { name: "add_page", input };
    }
    case "list_page": {
      const { kind: _, page, move, ...place } = instruction;
      return { name: "update_navigation", input: { [move ? "move" : "add"]: page, ...place } };
    }
    case "unlist_page":
      return { name: "update_navigation", input: { remove: instruction.page } };
    case "rename_group":
      return { name: "update_navigation", input: { group: instruction.from, rename: instruction.to } };
    case "order_navigation": {
      const { pages, group } = instruction;
      return { name: "update_navigation", input: { order: pages, ...(group === undefined ? {} : { group }) } };
    }
    case "set_front_matter": {
      const { page, field, value } = instruction;
      return { name: "set_front_matter", input: { page, field, value } };
    }
    case "add_redirect":
      return { name: "add_redirect", input: { from: instruction.from, to: instruction.to } };
    case "move_section": {
      const { page, heading, to } = instruction;
      return { name: "move_section", input: { page, heading, to } };
    }
    case "rename_heading": {
      const { page, from, to } = instruction;
      return { name: "move_section", input: { page, heading: from, rename: to } };
    }
    default:
      return assertNever(instruction);
  }
}
