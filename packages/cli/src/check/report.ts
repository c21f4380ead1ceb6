import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { styleText } from "node:util";
import { type Finding, type LinkTally, type Severity, unseen } from "@emend/site";
import { counted, safeText } from "../terminal/format.ts";

interface Summary {
  framework: string;
  pages: number;
  fixed: number;
  elapsedMs: number;
  tally: LinkTally;
}

const colors: Record<Severity, "red" | "yellow" | "blue"> = { error: "red", warning: "yellow", info: "blue" };
// With fewer, each is shown.
const repeatedMin = 5;
// The width of an excerpt from a long line.
const frameWidth = 100;

/** Findings grouped by file, each with its line; then the total. */
export async function renderHuman(
  dir: string,
  listed: readonly Finding[],
  all: readonly Finding[],
  summary: Summary,
  showInfo: boolean,
): Promise<string> {
  const isShown = ({ severity }: Finding): boolean => showInfo || severity !== "info";
  const shown = listed.filter(isShown);
  const out: string[] = [...opening(summary.tally)];
  // One cause of many findings is shown once. That nobody can see what else there may be is no cause.
  const caused = shown.filter(({ why }) => why !== undefined && !Object.values<string>(unseen).includes(why));
  const causes = Map.groupBy(caused, ({ why = "" }) => why);
  const isRepeated = (finding: Finding): boolean => {
    const same = causes.get(finding.why ?? "") ?? [];
    return same.length >= repeatedMin && same[0] !== finding;
  };
  for (const [path, group] of Map.groupBy(
    shown.filter((finding) => !isRepeated(finding)),
    (finding) => finding.path,
  )) {
    const lines = await readLines(join(dir, path));
    out.push(styleText("bold", safeText(path)));
    for (const finding of group) {
      const place = `${finding.line}:${finding.column}`.padEnd(7);
      const severity = styleText(colors[finding.severity], finding.severity);
      out.push(
        `  ${styleText("dim", place)} ${severity} ${safeText(finding.message)} ${styleText("dim", doubted(finding))}`,
      );
      out.push(...frame(lines, finding));
      const same = finding.why === undefined ? 0 : (causes.get(finding.why)?.length ?? 0);
      if (same >= repeatedMin)
        out.push(styleText("dim", `        and ${same - 1} more with the same cause; --json lists them`));
    }
    out.push("");
  }
  out.push(closing(all, summary, all.length - all.filter(isShown).length));
  return out.join("\n");
}

/** If most links were not judged, that comes first: few findings would look like a good site. */
function opening({ links, unjudged, reasons }: LinkTally): string[] {
  if (unjudged * 2 <= links) return [];
  const [cause = ["", 0]] = Object.entries(reasons).sort((a, b) => b[1] - a[1]);
  return [
    styleText(
      "yellow",
      `Most links were not checked: ${unjudged} of ${counted(links, "link")}. Most of these are ${cause[0]}.`,
    ),
    "",
  ];
}

/** The check's name, and how certain it is. */
function doubted({ check, certainty, why = "" }: Finding): string {
  return certainty === undefined ? check : `${check} (${certainty}: ${safeText(why)})`;
}

async function readLines(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n");
}

function frame(lines: readonly string[], { line, column }: Finding): string[] {
  const source = lines[line - 1]?.trimEnd();
  if (source === undefined || source === "" || column < 1) return [];
  const from = Math.max(0, Math.min(column - 1 - frameWidth / 2, source.length - frameWidth));
  const text = safeText(source.slice(from, from + frameWidth));
  const gutter = String(line).padStart(6);
  return [
    styleText("dim", `${gutter} │ ${from > 0 ? "…" : ""}${text}`),
    styleText("dim", `${" ".repeat(6)} │ `) +
      " ".repeat(column - 1 - from + (from > 0 ? 1 : 0)) +
      styleText("red", "^"),
  ];
}

function closing(findings: readonly Finding[], summary: Summary, hidden: number): string {
  const count = (severity: Severity): number => findings.filter((finding) => finding.severity === severity).length;
  const errors = count("error");
  const mark = errors > 0 ? styleText("red", "✖") : styleText("green", "✔");
  const seconds = (summary.elapsedMs / 1000).toFixed(2);
  const parts = [counted(errors, "error"), counted(count("warning"), "warning")];
  const site = `${counted(summary.pages, "page")} (${summary.framework}) in ${seconds} s`;
  const fixed = summary.fixed > 0 ? `, ${summary.fixed} ${summary.fixed === 1 ? "fix" : "fixes"} applied` : "";
  const more = hidden > 0 ? `, ${counted(hidden, "note")} (--info shows them)` : "";
  const { links, unjudged, reasons } = summary.tally;
  const why = Object.entries(reasons).map(([reason, count]) => `${count} ${reason}`);
  const unread = unjudged === 0 ? "" : `\n  ${unjudged} of ${counted(links, "link")} not checked: ${why.join("; ")}`;
  return `${mark} ${parts.join(", ")}${more}${fixed} · ${site}${unread}`;
}

/** A finding as `--json` prints it. */
export function findingJson({ check, severity, path, line, column, message, certainty, why }: Finding): object {
  return {
    check,
    severity,
    path,
    line,
    column,
    message,
    certainty: certainty ?? "certain",
    ...(why === undefined ? {} : { why }),
  };
}

const gitlabSeverities: Record<Severity, string> = { error: "major", warning: "minor", info: "info" };

/**
 * The findings as GitLab's code quality report. `prefix`: the folder's path in the repository, with a trailing slash.
 */
export function renderGitlab(findings: readonly Finding[], prefix: string): unknown {
  const seen = new Map<string, number>();
  return findings.map(({ check, severity, path, line, message }) => {
    // Without the line, so that a moved finding stays the same for GitLab. Duplicates are numbered.
    const subject = `${check}\0${prefix}${path}\0${message}`;
    const count = seen.get(subject) ?? 0;
    seen.set(subject, count + 1);
    return {
      description: message,
      check_name: check,
      fingerprint: createHash("sha256").update(`${subject}\0${count}`).digest("hex"),
      severity: gitlabSeverities[severity],
      location: { path: prefix + path, lines: { begin: line } },
    };
  });
}

const levels = { error: "error", warning: "warning", info: "notice" } as const;
// GitHub shows at most this many per step.
const annotationsMax = 50;

function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Workflow commands that make GitHub show findings next to the lines, most severe first. */
export function renderAnnotations(env: NodeJS.ProcessEnv, dir: string, findings: readonly Finding[]): string[] {
  const order = ["error", "warning", "info"];
  const gravest = findings.toSorted((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity));
  const workspace = env.GITHUB_WORKSPACE ?? process.cwd();
  return gravest.slice(0, annotationsMax).map(({ severity, path, line, column, check, message }) => {
    const file = relative(workspace, join(dir, path)).replaceAll("\\", "/");
    const place = `file=${escapeProperty(file)},line=${line},col=${column},title=${escapeProperty(check)}`;
    return `::${levels[severity]} ${place}::${escapeData(message)}`;
  });
}
