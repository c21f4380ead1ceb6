import { parsePatch } from "@emend/contract";
import type { JobReport } from "@emend/server";
import { modelHint } from "../model-hint.ts";
import { counted, markdownLines, safeText, seconds, wrap } from "../terminal/format.ts";
import type { Narrator } from "../terminal/narrator.ts";

const labelWidth = 12;

/** The job's result, in its own words and in figures. */
export async function showReport(
  narrator: Narrator,
  report: JobReport,
  more: { env: NodeJS.ProcessEnv; elapsedMs: number },
): Promise<void> {
  const { style } = narrator;
  const row = (label: string, value: string) => narrator.line(`  ${style.dim(label.padEnd(labelWidth))}${value}`);
  narrator.line();
  if (report.title) {
    for (const line of wrap(safeText(report.title), narrator.width)) narrator.line(`  ${style.strong(line)}`);
    narrator.line();
  }
  for (const line of markdownLines(report.summary ?? "", narrator.width)) narrator.line(line === "" ? "" : `  ${line}`);
  narrator.line();

  showExcerpt(narrator, report.diff);
  const files = parsePatch(report.diff);
  const sum = (name: "additions" | "deletions") => files.reduce((total, file) => total + file[name], 0);
  if (files.length > 0) {
    row("diff", `${counted(files.length, "file")}, +${sum("additions")} −${sum("deletions")} lines`);
  }
  if (report.findings) row("findings", findingsText(report.findings));
  row("model", modelText(report.model));
  row("time", `${seconds(more.elapsedMs)} in all`);
  const hint = await modelHint(more.env);
  if (hint) narrator.line(`  ${style.dim(hint)}`);
  narrator.line();
}

function showExcerpt(narrator: Narrator, diff: string): void {
  const { style, width } = narrator;
  const { lines, isWhole } = diffExcerpt(diff);
  if (lines.length === 0) return;
  for (const { kind, text, differsAt } of lines) {
    const paint = { file: style.dim, added: style.good, removed: style.bad }[kind];
    narrator.line(`  ${kind === "file" ? "" : "  "}${paint(fit(safeText(text), width, differsAt))}`);
  }
  if (!isWhole) narrator.line(style.dim("  … the pull request shows the rest"));
  narrator.line();
}

/** Truncates a line, also at the start if the end would cut off what changed. */
function fit(text: string, width: number, differsAt: number): string {
  if (text.length <= width) return text;
  const lead = Math.floor(width / 3);
  if (differsAt < width - lead) return `${text.slice(0, width - 1)}…`;
  const rest = text.slice(differsAt - lead);
  return `${text[0]}…${rest.length <= width - 2 ? rest : `${rest.slice(0, width - 3)}…`}`;
}

function findingsText(findings: { before: number; after: number; introduced: readonly unknown[] }): string {
  const introduced = findings.introduced.length;
  return `${findings.before} before, ${findings.after} after; ${introduced === 0 ? "none" : introduced} new`;
}

function modelText(model: string): string {
  return model === "emend/rules" ? "emend/rules, deterministic" : safeText(model);
}

interface ExcerptLine {
  kind: "file" | "added" | "removed";
  text: string;
  /** Where a removed line and its replacement start to differ: a narrow terminal must show this. */
  differsAt: number;
}

interface Excerpt {
  lines: readonly ExcerptLine[];
  isWhole: boolean;
}

const linesMax = 16;
const linesOfFileMax = 4;

/** The first changed lines of a diff, a few from each file. */
export function diffExcerpt(diff: string): Excerpt {
  const lines: ExcerptLine[] = [];
  let isWhole = true;
  for (const { path, lines: all } of parsePatch(diff)) {
    const changed = all.flatMap((line) =>
      (line.kind === "added" || line.kind === "deleted") && line.text !== ""
        ? [`${line.kind === "added" ? "+" : "-"}${line.text}`]
        : [],
    );
    const shown = changed.slice(0, linesOfFileMax);
    if (shown.length < changed.length) isWhole = false;
    if (shown.length === 0) continue;
    if (lines.length + 1 + shown.length > linesMax) return { lines, isWhole: false };
    lines.push({ kind: "file", text: path, differsAt: 0 }, ...shown.map(toLine));
  }
  return { lines, isWhole };
}

function toLine(text: string, index: number, lines: readonly string[]): ExcerptLine {
  const isAdded = text.startsWith("+");
  const other = lines[isAdded ? index - 1 : index + 1];
  const isPair = other !== undefined && other.startsWith("+") !== isAdded;
  return { kind: isAdded ? "added" : "removed", text, differsAt: isPair ? firstDifference(text, other) : 0 };
}

/** After the sign. */
function firstDifference(a: string, b: string): number {
  let at = 1;
  while (at < a.length && a[at] === b[at]) at += 1;
  return at;
}
