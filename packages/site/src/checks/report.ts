import type { Finding, Severity } from "../types.ts";

/** Formats a page's name for a message. */
export function quoted(text: string): string {
  return `\`${text.length > 120 ? `${text.slice(0, 117)}…` : text}\``;
}

export function toFinding(check: { id: string; severity: Severity }, report: Report): Finding {
  const { path, line, column, message, fix } = report;
  const finding: Finding = {
    check: check.id,
    severity: report.severity ?? check.severity,
    path,
    line,
    column,
    message,
  };
  if (report.certainty !== undefined) finding.certainty = report.certainty;
  if (report.why !== undefined) finding.why = report.why;
  if (fix !== undefined && report.certainty === undefined) finding.fix = fix;
  if (report.target !== undefined) targets.set(finding, report.target);
  return finding;
}

const targets = new WeakMap<Finding, string>();

/** What a finding says to be missing, as it is written. */
export function targetOf(finding: Finding): string | undefined {
  return targets.get(finding);
}

export type Report = Omit<Finding, "check" | "severity"> &
  Partial<Pick<Finding, "severity">> & {
    /** What is missing, as it is written, for the second reader. */
    target?: string;
  };
