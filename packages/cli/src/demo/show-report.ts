import type { JobReport } from "@emend/server";
import { modelHint } from "../model-hint.ts";
import { counted } from "../terminal/counted.ts";
import { seconds } from "../terminal/duration.ts";
import { markdownLines } from "../terminal/markdown-lines.ts";
import type { Narrator } from "../terminal/narrator.ts";
import { safeText } from "../terminal/safe-text.ts";
import { wrap } from "../terminal/wrap.ts";
import { diffExcerpt } from "./diff-excerpt.ts";
import { diffFigures } from "./diff-figures.ts";

const labelWidth = 12;

/** What the job did, in its own words and in numbers that were counted afterwards. */
export function showReport(
  narrator: Narrator,
  report: JobReport,
  more: { env: NodeJS.ProcessEnv; elapsedMs: number },
): void {
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
  const { linesAdded, linesRemoved } = diffFigures(report.diff);
  if (report.changedFiles > 0)
    row("diff", `${counted(report.changedFiles, "file")}, +${linesAdded} −${linesRemoved} lines`);
  if (report.findings) row("findings", findingsText(report.findings));
  row("model", modelText(report.model));
  row("time", `${seconds(more.elapsedMs)} in all`);
  const hint = modelHint(more.env);
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

/** Cuts what is too long, at the start too where the cut at the end would take what changed. */
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
