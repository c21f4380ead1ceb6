import type { Finding } from "@emend/site";
import type { PullRequestCheck } from "../forge/forge.ts";
import { reachesOut } from "../lib/reaches-out.ts";
import { fillTemplate } from "./fill-template.ts";
import { madeBy } from "./made-by.ts";
import { type MovedNotice, movedNotice } from "./moved-notice.ts";
import type { CitedSource, TotalUsage } from "./publication.ts";
import { codeBlock, codeSpan, plainLine, quietMarkdown } from "./quiet-text.ts";
import { sourceList } from "./source-list.ts";

/** The strictest known forge stops at 65,536; the rest is headroom for what escaping adds. */
const bodyCharactersMax = 60_000;
const summaryCharactersMax = 12_000;
const promptCharactersMax = 4_000;
const filesShownMax = 12;
const findingsShownMax = 40;

export interface TouchedFile {
  path: string;
  kind: "added" | "changed" | "deleted";
}

export interface BodyInput {
  job: { id: string; url: string; prompt: string; followUps: readonly string[] };
  model: string;
  usage: TotalUsage;
  summary: string;
  draft: boolean;
  draftReason?: string;
  files: readonly TouchedFile[];
  /** Empty where the forge's page shows them by itself. */
  checks: readonly PullRequestCheck[];
  introduced: readonly Finding[];
  sources: readonly CitedSource[];
  /** The repository's own text for new pull requests. */
  template: string | null;
  /** Where nothing else keeps a reader from merging. */
  findingsFirst?: boolean;
  /** Where the base branch moved on and could not be taken in. */
  moved?: MovedNotice;
}

/** What changed and why, what was touched, what was checked, what it is founded on, and which job it came from. */
export function pullRequestBody(input: BodyInput): string {
  const text = joined([
    input.draft ? draftNotice(input) : "",
    input.moved ? movedNotice(input.moved) : "",
    input.findingsFirst ? findings(input.introduced) : "",
    ...described(input),
    `### Asked for\n\n${codeBlock(input.job.prompt, promptCharactersMax)}`,
    origin(input),
  ]);
  const footer = `\n\n${marker(input.job.id)}\n`;
  return text.slice(0, bodyCharactersMax - footer.length) + footer;
}

/**
 * The body of a pull request whose job was given a further message: what stood there stays, whoever wrote it, and what
 * the message brought comes after it. Null where it says so already.
 */
export function followUpBody(body: string, input: BodyInput): string | null {
  const round = `<!-- emend:round=${input.job.followUps.length} -->`;
  if (body.includes(round)) return null;
  const before = body.replace(marker(input.job.id), "").trimEnd();
  const section = joined([
    "## Follow-up",
    codeBlock(input.job.followUps.at(-1) ?? "", promptCharactersMax),
    input.draft ? draftNotice(input) : "",
    ...described({ ...input, template: null }),
    origin(input),
  ]);
  const footer = `\n\n${round}\n${marker(input.job.id)}\n`;
  const room = bodyCharactersMax - before.length - footer.length - 2;
  const shown = section.length <= room ? section : `[The job](${input.job.url}) tells of a further message.`;
  return `${before}\n\n${shown}${footer}`;
}

function described(input: BodyInput): readonly string[] {
  const summary = summaryOf(input.summary);
  const list = checkList(input.checks);
  const filled = input.template === null ? null : fillTemplate(input.template, { summary, checks: list });
  return [
    filled?.text ?? summary,
    list === "" || filled?.hasChecks ? "" : `### Checks\n\n${list}`,
    input.findingsFirst ? "" : findings(input.introduced),
    sourceList(input.sources),
    touched(input.files),
  ];
}

/** Words that would load or link to something are shown as the text they are. */
function summaryOf(summary: string): string {
  return reachesOut(summary) ? codeBlock(summary, summaryCharactersMax) : quietMarkdown(summary, summaryCharactersMax);
}

/** Says whose pull request this is, whatever became of its title and text. */
function marker(jobId: string): string {
  return `<!-- emend:job=${jobId} -->`;
}

export function hasMarker(body: string, jobId: string): boolean {
  return body.includes(marker(jobId));
}

function origin({ model, usage, job }: BodyInput): string {
  return `${madeBy(model, usage)} [The job](${job.url}) has the details.`;
}

function draftNotice(input: BodyInput): string {
  const reason = input.draftReason ?? "new findings remain; read them before you merge";
  return `> **${input.findingsFirst ? "Needs review" : "Draft"}:** ${plainLine(quietMarkdown(reason, 500), 500)}`;
}

function checkList(list: readonly PullRequestCheck[]): string {
  const lines = list.map(
    ({ name, verdict, detail }) => `- ${verdict === "passed" ? "✓" : "⚠"} **${name}**, ${verdict}: ${detail}`,
  );
  return lines.join("\n");
}

function findings(list: readonly Finding[]): string {
  if (list.length === 0) return "";
  const lines = list.slice(0, findingsShownMax).map((finding) => {
    const place = codeSpan(`${finding.path}:${finding.line}`);
    return `- ${finding.severity} ${place} ${plainLine(quietMarkdown(finding.message, 300), 300)}`;
  });
  return `### New findings\n\n${withRest(lines, list.length)}`;
}

function touched(files: readonly TouchedFile[]): string {
  const lines = files.slice(0, filesShownMax).map(({ path, kind }) => `- ${kind} ${codeSpan(path)}`);
  return `### Touched\n\n${withRest(lines, files.length)}`;
}

function withRest(lines: readonly string[], total: number): string {
  const rest = total - lines.length;
  return [...lines, ...(rest > 0 ? [`- and ${rest} more`] : [])].join("\n");
}

function joined(sections: readonly string[]): string {
  return sections.filter((section) => section !== "").join("\n\n");
}
