import type { Skipped } from "@emend/site";
import { reachesOut } from "../../lib/reaches-out.ts";
import { shown } from "../shown.ts";
import { parseReport, type Report } from "../tools/report.ts";
import type { PlannedCall } from "./calls.ts";
import { describeInstruction } from "./describe.ts";
import type { Instruction } from "./instruction.ts";

const titleCharactersMax = 120;
// Together, for 50 instructions, they stay below what a hand-over may hold.
const leftAloneMax = 20;
const linesMax = 50;
const orderCharactersMax = 140;
const detailCharactersMax = 160;

export interface DoneRound {
  instructions: readonly Instruction[];
  /** What the tools answered, in the same order. */
  outputs: readonly string[];
}

/**
 * The `finish` call: what was done in numbers, what was left alone and why, and that no model had a hand in it. After
 * earlier rounds the summary tells of all of them, and the reply of this one.
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

/** Links that stay broken are no site on which nothing had to change. */
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
  // A term or a name may hold a link; the title shows it as it is.
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

/** Shown as it is: what a page or a prompt holds must not become a link, an image or a heading of the pull request. */
function codeSpan(text: string, charactersMax: number): string {
  return `\`${shown(text, charactersMax).replaceAll("`", "'")}\``;
}
