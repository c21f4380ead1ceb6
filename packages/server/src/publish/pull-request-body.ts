import type { Finding } from "@emend/site";
import type { PullRequestCheck } from "../forge/forge.ts";
import { type MovedNotice, movedNotice } from "./moved-notice.ts";
import { codeBlock, codeSpan, plainLine, quietMarkdown } from "./quiet-text.ts";

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
  job: { id: string; url: string; prompt: string };
  model: string;
  summary: string;
  draft: boolean;
  draftReason?: string;
  files: readonly TouchedFile[];
  /** Empty where the forge's page shows them by itself. */
  checks: readonly PullRequestCheck[];
  introduced: readonly Finding[];
  /** Where nothing else keeps a reader from merging. */
  findingsFirst?: boolean;
  /** Where the base branch moved on and could not be taken in. */
  moved?: MovedNotice;
}

/** What changed and why, what was touched, what was checked, and which job it came from. */
export function pullRequestBody(input: BodyInput): string {
  const sections = [
    input.draft ? draftNotice(input) : "",
    input.moved ? movedNotice(input.moved) : "",
    input.findingsFirst ? findings(input.introduced) : "",
    quietMarkdown(input.summary, summaryCharactersMax),
    checks(input.checks),
    input.findingsFirst ? "" : findings(input.introduced),
    touched(input.files),
    `### Asked for\n\n${codeBlock(input.job.prompt, promptCharactersMax)}`,
    `${madeBy(input.model)} [The job](${input.job.url}) has the details.`,
  ];
  const text = sections.filter((section) => section !== "").join("\n\n");
  const footer = `\n\n${marker(input.job.id)}\n`;
  return text.slice(0, bodyCharactersMax - footer.length) + footer;
}

/** Says whose pull request this is, whatever became of its title and text. */
function marker(jobId: string): string {
  return `<!-- emend:job=${jobId} -->`;
}

export function hasMarker(body: string, jobId: string): boolean {
  return body.includes(marker(jobId));
}

function draftNotice(input: BodyInput): string {
  const reason = input.draftReason ?? "new findings remain; read them before you merge";
  return `> **${input.findingsFirst ? "Needs review" : "Draft"}:** ${plainLine(quietMarkdown(reason, 500), 500)}`;
}

function checks(list: readonly PullRequestCheck[]): string {
  if (list.length === 0) return "";
  const lines = list.map(
    ({ name, verdict, detail }) => `- ${verdict === "passed" ? "✓" : "⚠"} **${name}**, ${verdict}: ${detail}`,
  );
  return `### Checks\n\n${lines.join("\n")}`;
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

function madeBy(model: string): string {
  return model === "emend/rules"
    ? "Made by `emend/rules`, which is deterministic: no language model took part."
    : `Made by Emend with ${codeSpan(model)}.`;
}
