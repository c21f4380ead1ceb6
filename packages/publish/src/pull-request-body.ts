import { hash } from "node:crypto";
import { reachesOut } from "@emend/base/markdown.ts";
import { isNamed, namesOf, plainText } from "@emend/base/page-lines.ts";
import { wholeChange } from "@emend/contract";
import type { PullRequestCheck } from "@emend/forges";
import { blobUrl } from "@emend/forges";
import { fillTemplate } from "./fill-template.ts";
import type { CitedSource, DisputedFinding, EarlierRound, PageLinks, TotalUsage } from "./publication.ts";
import { codeBlock, codeSpan, plainLine, quietMarkdown, quoted } from "./quiet-text.ts";

const summaryCharactersMax = 12_000;
const promptCharactersMax = 4_000;
const followUpCharactersMax = 2_000;
const followUpsShownMax = 10;
const filesShownMax = 12;
/** Nobody compares more with a request. */
const filesComparedMax = 200;
const findingsShownMax = 40;

export interface TouchedFile {
  path: string;
  kind: "added" | "changed" | "deleted" | "renamed";
  /** Where a renamed one was. */
  from?: string;
  /** Lines. Absent where the diff is too large to count. */
  added?: number;
  removed?: number;
  /** People also pushed to it. */
  byPeople?: boolean;
}

export interface BodyInput {
  job: { id: string; url: string; prompt: string; followUps: readonly string[] };
  model: string;
  usage: TotalUsage;
  summary: string;
  /** The reply to the last message. If present, the summary describes the whole pull request. */
  reply?: string;
  /** The results of earlier prompts. */
  rounds?: readonly EarlierRound[];
  draft: boolean;
  draftReason?: string;
  files: readonly TouchedFile[];
  /** Pages as readers see them, by the addresses of their pictures. */
  pictures?: readonly PageLinks[];
  /** Empty if the forge shows the checks on the page. */
  checks: readonly PullRequestCheck[];
  introduced: readonly DisputedFinding[];
  sources: readonly CitedSource[];
  /** What the forge takes, if that is less than most do. */
  lengthMax?: number;
  /** The repository's pull request template. */
  template: string | null;
  /** Set if nothing else keeps a reader from merging. */
  findingsFirst?: boolean;
  /** Set if the base branch moved on and could not be merged in. */
  moved?: MovedNotice;
  /** The pull request that this one continues. */
  continues?: { number: number; url: string; state: string };
}

/** Says what changed and why, which files, what was checked, the sources, and the job. */
export function pullRequestBody(input: BodyInput): string {
  const round = input.job.followUps.length;
  const footer = `${round === 0 ? "" : `${roundMark(round)}\n`}${marker(input.job.id)}\n`;
  const sections = [
    input.continues ? continuesNotice(input.continues) : "",
    input.draft ? draftNotice(input) : "",
    input.moved ? movedNotice(input.moved) : "",
    input.findingsFirst ? findings(input.introduced) : "",
    ...described(input),
    input.job.followUps.length > 0 ? "" : `### Asked for\n\n${quoted(input.job.prompt, promptCharactersMax)}`,
  ];
  return sealed(fitted(sections, input, roomFor(input) - footer.length), footer, input.lengthMax);
}

/** For the text, without the hash below it. */
function roomFor({ lengthMax = bodyLengthMax }: BodyInput): number {
  return lengthMax - sealLength;
}

/** Leaves out sections that do not fit, and whole ones only: half a code block would swallow what follows. */
function fitted(sections: readonly string[], input: BodyInput, room: number): string {
  const whole = joined([...sections, origin(input)]);
  if (whole.length <= room) return whole;
  const end = `[The job](${input.job.url}) has what does not fit here.\n\n${origin(input)}`;
  let text = "";
  for (const section of sections) {
    const longer = joined([text, section]);
    if (longer.length + 2 + end.length <= room) text = longer;
  }
  return joined([text, end]);
}

/**
 * The body of a pull request after a follow-up message. It is rewritten for the whole change, unless a person edited
 * it: then the text stays and the follow-up is appended. Null if nothing needs to change.
 */
export function followUpBody(body: string, input: BodyInput): string | null {
  const round = roundMark(input.job.followUps.length);
  if (body.includes(round)) return null;
  if (isSealed(body)) return pullRequestBody(input);
  const before = body.replace(marker(input.job.id), "").trimEnd();
  const section = joined([
    "## Follow-up",
    quoted(input.job.followUps.at(-1) ?? "", promptCharactersMax),
    input.draft ? draftNotice(input) : "",
    input.moved ? movedNotice(input.moved) : "",
    summaryOf(input.reply ?? input.summary),
    ...figures({ ...input, template: null }),
    origin(input),
  ]);
  const footer = `\n\n${round}\n${marker(input.job.id)}\n`;
  const room = (input.lengthMax ?? bodyLengthMax) - before.length - footer.length - 2;
  const shown = section.length <= room ? section : `[The job](${input.job.url}) has another message.`;
  // A person's own text has no room left for it.
  if (shown.length > room && input.lengthMax !== undefined) return null;
  return `${before}\n\n${shown}${footer}`;
}

function continuesNotice({ number, url, state }: NonNullable<BodyInput["continues"]>): string {
  return `Continues [pull request ${number}](${url}), which was ${state} before this follow-up was published.`;
}

function described(input: BodyInput): readonly string[] {
  const half = roomFor(input) / 2;
  const summary = summaryWithin(leadOf(input), half);
  const checks = checkList(input.checks);
  const filled = input.template === null ? null : fillTemplate(input.template, { summary, checks });
  const isShort = filled !== null && filled.text.length <= half;
  if (!isShort) return [summary, roundList(input), ...figures(input)];
  return [filled.text, roundList(input), ...figures(filled.hasChecks ? { ...input, checks: [] } : input)];
}

/** Figures of the whole pull request. */
function figures(input: BodyInput): readonly string[] {
  const list = checkList(input.checks);
  return [
    list === "" ? "" : `### Checks\n\n${list}`,
    input.findingsFirst ? "" : findings(input.introduced),
    sourceList(input.sources),
    pictured(input.pictures ?? []),
    touched(input),
  ];
}

/** The newest summary of the whole pull request. If no round has one, the summary that it was opened with. */
function leadOf({ rounds = [], summary, reply }: BodyInput): string {
  if (reply !== undefined) return summary;
  const whole = rounds.findLast((round) => round.title !== null && round.reply);
  return (whole ?? openingRound(rounds))?.summary ?? summary;
}

function openingRound(rounds: readonly EarlierRound[]): EarlierRound | undefined {
  return rounds.find(({ title }) => title !== null);
}

/** With follow-ups: every prompt and its result, in order. */
function roundList(input: BodyInput): string {
  const { job, rounds = [] } = input;
  if (job.followUps.length === 0) return "";
  const isContinued = openingRound(rounds) !== undefined;
  const [first, ...later] = [job.prompt, ...job.followUps].map((prompt, index) => {
    const isLast = index === job.followUps.length;
    const said = input.reply ?? (isContinued ? input.summary : "");
    const done = isLast ? said && summaryOf(said) : outcomeOf(input, index);
    return joined([`**${index + 1}.** Asked:`, quoted(prompt, followUpCharactersMax), done]);
  });
  const shown = later.slice(-followUpsShownMax);
  const left = later.length - shown.length;
  const hidden = left > 0 ? `${left} earlier messages are not shown.` : "";
  return joined(["### What was asked, in order", first ?? "", hidden, ...shown]);
}

function outcomeOf(input: BodyInput, message: number): string {
  const round = input.rounds?.find((one) => one.message === message);
  if (!round) return "";
  // What the pull request was opened with may still be its summary.
  if (round.title !== null && !round.reply && round.summary === leadOf(input)) return "Done, as summarized above.";
  const words = quietMarkdown(round.reply ?? round.summary ?? "", followUpCharactersMax);
  if (round.title !== null) return reachesOut(words) ? codeBlock(words, followUpCharactersMax) : words;
  return `${round.failure === null ? "No changes" : "Failed"}: ${plainLine(words, followUpCharactersMax)}`;
}

/** Text that would load or link to something is shown as plain text. */
function summaryOf(summary: string, charactersMax = summaryCharactersMax): string {
  return reachesOut(summary) ? codeBlock(summary, charactersMax) : quietMarkdown(summary, charactersMax);
}

/** Cut so that it takes no more than this, whatever escaping and characters of two units add. */
function summaryWithin(summary: string, lengthMax: number): string {
  for (let max = summaryCharactersMax; ; max = Math.floor(max / 2)) {
    const shown = summaryOf(summary, max);
    if (shown.length <= lengthMax || max < 100) return shown;
  }
}

/** Identifies the job's pull request, even if people change its title and text. */
function marker(jobId: string): string {
  return `<!-- emend:job=${jobId} -->`;
}

function roundMark(round: number): string {
  return `<!-- emend:round=${round} -->`;
}

export function hasMarker(body: string, jobId: string): boolean {
  return body.includes(marker(jobId));
}

function origin({ model, usage, job }: BodyInput): string {
  return `${madeBy(model, usage)} [The job](${job.url}) has the details.`;
}

const noticeStart = "> **Needs review:** ";

/** Says why, not whether it is a draft: people mark drafts ready, and the text stays. */
function draftNotice(input: BodyInput): string {
  const reason = input.draftReason ?? "Review before merging.";
  return `${noticeStart}${plainLine(quietMarkdown(reason, 500), 500)}`;
}

/** Without the reason for a review that is no longer true. A text that a person edited stays as it is. */
export function withoutNotice(body: string): string {
  const found = isSealed(body) && body.startsWith(noticeStart) ? seal.exec(body) : null;
  if (!found) return body;
  return sealed(body.slice(body.indexOf("\n"), found.index).trimStart(), body.slice(found.index + found[0].length));
}

function checkList(list: readonly PullRequestCheck[]): string {
  const lines = list.map(({ name, verdict, detail }) => `- ${verdict === "passed" ? "✓" : "⚠"} **${name}**: ${detail}`);
  return lines.join("\n");
}

function findings(list: readonly DisputedFinding[]): string {
  if (list.length === 0) return "";
  const lines = list.slice(0, findingsShownMax).map((finding) => {
    const place = finding.path === wholeChange ? `${wholeChange}:` : codeSpan(`${finding.path}:${finding.line}`);
    const dispute =
      finding.dispute && `\n  The agent disagrees: ${plainLine(quietMarkdown(finding.dispute, 500), 500)}`;
    return `- ${finding.severity} ${place} ${plainLine(quietMarkdown(finding.message, 300), 300)}${dispute ?? ""}`;
  });
  return `### New findings\n\n${withRest(lines, list.length)}`;
}

/**
 * Pages apart that the request does not name, where it names others, each with what the summary says of it. The rules
 * change what the request says, and nothing else.
 */
function touched({ files, job, model, summary }: BodyInput): string {
  const request = plainText([job.prompt, ...job.followUps].join("\n").slice(0, promptCharactersMax * 4));
  const isAsked = ({ path, from = path }: TouchedFile) => isNamed(request, [...ownNames(path), ...ownNames(from)]);
  const pages = files.length > filesComparedMax ? [] : files.filter(({ path }) => pageFile.test(path));
  const unnamed = pages.filter((file) => !isAsked(file));
  const others = model !== "emend/rules" && unnamed.length < pages.length ? unnamed : [];
  const list = (shown: readonly TouchedFile[], more: (file: TouchedFile) => string) =>
    withRest(
      shown.slice(0, filesShownMax).map((file) => `- ${inWords(file)}${more(file)}`),
      shown.length,
    );
  const main = list(
    files.filter((file) => !others.includes(file)),
    () => "",
  );
  if (others.length === 0) return `### Touched\n\n${main}`;
  const reasoned = list(others, ({ path }) => `: ${reasonFor(path, summary) || "the summary does not name it"}`);
  return `### Touched\n\n${main}\n\nThe request does not name these pages:\n\n${reasoned}`;
}

/** Side by side, as hosts draw tables. */
function pictured(pages: readonly PageLinks[]): string {
  if (pages.length === 0) return "";
  const shown = (path: string, side: "before" | "after", url: string | null) =>
    url === null
      ? `The page is ${side === "before" ? "new" : "gone"}.`
      : `![${plainLine(path, 200).replaceAll(/[[\]\\|<>!`]/g, "")} ${side} the change](${url})`;
  const tables = pages.map(
    ({ path, before, after }) =>
      `${codeSpan(path)}\n\n| before | after |\n|---|---|\n| ${shown(path, "before", before)} | ${shown(path, "after", after)} |`,
  );
  return `### Pages\n\n${tables.join("\n\n")}`;
}

function inWords({ path, kind, from, byPeople, added, removed }: TouchedFile): string {
  const origin = from === undefined ? "" : `${codeSpan(from)} → `;
  const lines = added === undefined || kind === "deleted" ? "" : ` +${added} −${removed}`;
  return `${kind} ${origin}${codeSpan(path)}${lines}${byPeople ? ", including commits by people" : ""}`;
}

const pageFile = /\.(?:mdx?|markdown|rst|adoc)$/i;

/** Without its folders, which other pages share. */
function ownNames(path: string): readonly string[] {
  return namesOf(path).slice(0, 3);
}

const reasonCharactersMax = 200;

/** The first sentence of the summary that names the page. */
function reasonFor(path: string, summary: string): string {
  const names = ownNames(path);
  const sentence = summary.split(/\n+|(?<=[.!?])\s+/).find((one) => isNamed(plainText(one), names)) ?? "";
  return plainLine(quietMarkdown(sentence, reasonCharactersMax), reasonCharactersMax).replace(/^[-*]\s+/, "");
}

function withRest(lines: readonly string[], total: number): string {
  const rest = total - lines.length;
  return [...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join("\n");
}

function joined(sections: readonly string[]): string {
  return sections.filter((section) => section !== "").join("\n\n");
}

/** The model that made the change, and its usage. */
function madeBy(model: string, usage: TotalUsage): string {
  if (model === "emend/rules") return "Made by `emend/rules`, which is deterministic. No language model was used.";
  const cached = usage.cachedInputTokens > 0 ? ` (${count(usage.cachedInputTokens)} of them cached)` : "";
  const tokens = `${count(usage.inputTokens)} tokens in${cached}, ${count(usage.outputTokens)} out`;
  const cost = usage.costUsd > 0 ? `, $${usage.costUsd.toFixed(usage.costUsd < 0.1 ? 4 : 2)}` : "";
  return `Made by Emend with ${codeSpan(model)} in ${usage.steps} ${usage.steps === 1 ? "step" : "steps"}: ${tokens}${cost}.`;
}

function count(number: number): string {
  return number.toLocaleString("en-US");
}

/** In UTF-16 units. Most forges allow 65,536. The rest is headroom for escaping. */
const bodyLengthMax = 60_000;
/** More than the hash and its blank lines. */
const sealLength = 40;

const seal = /\n\n<!-- emend:text=([0-9a-f]{16}) -->\n/;

/** Adds a hash below the text, so that Emend can tell later whether a person edited it. */
export function sealed(text: string, footer: string, lengthMax = bodyLengthMax): string {
  const room = lengthMax - footer.length - sealLength;
  const shown = text.slice(0, room).toWellFormed().trimEnd();
  return `${shown}\n\n<!-- emend:text=${digestOf(shown)} -->\n${footer}`;
}

/** Whether the text above the hash is unchanged, and nothing was added below it. */
export function isSealed(body: string): boolean {
  const lines = body.replaceAll("\r\n", "\n");
  const found = seal.exec(lines);
  if (!found) return false;
  const below = lines.slice(found.index + found[0].length).replaceAll(/<!-- emend:[\w=]+ -->/g, "");
  return below.trim() === "" && digestOf(lines.slice(0, found.index)) === found[1];
}

/** Forges trim lines and texts. */
function digestOf(text: string): string {
  return hash("sha256", text.replaceAll(/[ \t]+$/gm, "").trim(), "hex").slice(0, 16);
}

const sourcesShownMax = 40;
const commitCharactersShown = 10;

const supportsCharactersMax = 300;
const citedCharactersMax = 1_200;
const citedLinesShownMax = 8;

/** Each sentence with the lines that support it, at the commit that was read. */
function sourceList(sources: readonly CitedSource[]): string {
  if (sources.length === 0) return "";
  const lines = sources.slice(0, sourcesShownMax).map((source) => {
    // Of a knowledge server: what was asked, and when.
    if (source.forge === "knowledge") return `- ${codeSpan(`${source.repository}: ${source.path}`)}, ${source.commit}`;
    const place = codeSpan(
      `${source.repository === null ? "" : `${source.repository}/`}${source.path}:${linesOf(source)}`,
    );
    const url = blobUrl(source);
    const where = `${url === null ? place : `[${place}](${url})`} at ${codeSpan(source.commit.slice(0, commitCharactersShown))}`;
    const { supports = "", cited } = source;
    const sentence =
      supports === "" ? "" : `“${plainLine(quietMarkdown(supports, supportsCharactersMax), supportsCharactersMax)}”: `;
    return `- ${sentence}${where}${cited ? folded(cited.text) : ""}`;
  });
  return `### Sources\n\n${withRest(lines, sources.length)}`;
}

function linesOf({ line, cited }: CitedSource): string {
  return cited && cited.lineEnd > line ? `${line}-${cited.lineEnd}` : `${line}`;
}

function unindented(text: string): string {
  const lines = text.split("\n");
  const widths = lines.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  return lines.map((line) => line.slice(Math.min(...widths))).join("\n");
}

/** The cited lines below their source, closed where there are many. */
function folded(text: string): string {
  const block = codeBlock(unindented(text), citedCharactersMax);
  const isLong = text.split("\n").length > citedLinesShownMax;
  const shown = isLong ? `<details><summary>Cited lines</summary>\n\n${block}\n\n</details>` : block;
  return `\n\n${shown.replaceAll(/^(?=.)/gm, "  ")}`;
}

const pathsShownMax = 10;

/** A base branch that diverged from the change. */
export interface MovedNotice {
  branch: string;
  /** The base commit of the change. */
  commit: string;
  /** The files that both changed. */
  paths: readonly string[];
}

/** Tells the person who merges which files will conflict, and why. */
function movedNotice({ branch, commit, paths }: MovedNotice): string {
  const shown = paths.slice(0, pathsShownMax).map((path) => codeSpan(path));
  const rest = paths.length - shown.length;
  const files = [shown.join(", "), ...(rest > 0 ? [`and ${rest} more`] : [])].join(" ");
  return (
    `> **${codeSpan(branch)} changed** while Emend worked, and both sides changed ${files}. ` +
    `This pull request is still based on ${codeSpan(commit.slice(0, 10))}. Resolve the conflict when you merge.`
  );
}
