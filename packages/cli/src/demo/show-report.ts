import type { JobReport } from "@emend/server";
import { modelHint } from "../model-hint.ts";
import { seconds } from "../terminal/duration.ts";
import { markdownLines } from "../terminal/markdown-lines.ts";
import type { Narrator } from "../terminal/narrator.ts";
import { safeText } from "../terminal/safe-text.ts";
import { wrap } from "../terminal/wrap.ts";
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
  const title = safeText(report.title ?? "Nothing had to change");
  for (const line of wrap(title, narrator.width)) narrator.line(`  ${style.strong(line)}`);
  narrator.line();
  for (const line of markdownLines(report.summary ?? "", narrator.width)) narrator.line(line === "" ? "" : `  ${line}`);
  narrator.line();

  const { linesAdded, linesRemoved } = diffFigures(report.diff);
  if (report.changedFiles > 0) row("diff", `${report.changedFiles} files, +${linesAdded} −${linesRemoved} lines`);
  if (report.findings) row("findings", findingsText(report.findings));
  row("model", modelText(report.model));
  row("time", `${seconds(more.elapsedMs)} in all`);
  const hint = modelHint(more.env);
  if (hint) narrator.line(`  ${style.dim(hint)}`);
  narrator.line();
}

export function showFailure(narrator: Narrator, report: JobReport): void {
  narrator.line();
  narrator.line(`  ${narrator.style.warn(`The job failed: ${report.failure?.code ?? "internal"}`)}`);
  const reason = safeText(report.failure?.message ?? "No reason was stored.");
  for (const line of wrap(reason, narrator.width)) narrator.line(`  ${line}`);
  narrator.line();
}

function findingsText(findings: { before: number; after: number; introduced: readonly unknown[] }): string {
  const introduced = findings.introduced.length;
  return `${findings.before} before, ${findings.after} after; ${introduced === 0 ? "none" : introduced} new`;
}

function modelText(model: string): string {
  return model === "emend/rules" ? "emend/rules, deterministic" : safeText(model);
}
