import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { styleText } from "node:util";
import type { Finding, Severity } from "@emend/site";

export interface Summary {
  framework: string;
  pages: number;
  fixed: number;
  elapsedMs: number;
}

const colors: Record<Severity, "red" | "yellow" | "blue"> = { error: "red", warning: "yellow", info: "blue" };
// A frame shows this much of a long line around the place.
const frameWidth = 100;

/** The findings grouped by file, each with the line it is on. */
export async function renderHuman(
  dir: string,
  findings: readonly Finding[],
  summary: Summary,
  showInfo: boolean,
): Promise<string> {
  const shown = findings.filter(({ severity }) => showInfo || severity !== "info");
  const out: string[] = [];
  for (const [path, group] of Map.groupBy(shown, (finding) => finding.path)) {
    const lines = await readLines(join(dir, path));
    out.push(styleText("bold", path));
    for (const finding of group) {
      const place = `${finding.line}:${finding.column}`.padEnd(7);
      const severity = styleText(colors[finding.severity], finding.severity);
      out.push(
        `  ${styleText("dim", place)} ${severity} ${visible(finding.message)} ${styleText("dim", finding.check)}`,
      );
      out.push(...frame(lines, finding));
    }
    out.push("");
  }
  out.push(closing(findings, summary, findings.length - shown.length));
  return out.join("\n");
}

async function readLines(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n");
}

/** Control characters of a page must not reach the terminal. */
function visible(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, "·");
}

function frame(lines: readonly string[], { line, column }: Finding): string[] {
  const source = lines[line - 1]?.trimEnd();
  if (source === undefined || source === "" || column < 1) return [];
  const from = Math.max(0, Math.min(column - 1 - frameWidth / 2, source.length - frameWidth));
  const text = visible(source.slice(from, from + frameWidth).replaceAll("\t", " "));
  const gutter = String(line).padStart(6);
  return [
    styleText("dim", `${gutter} │ ${from > 0 ? "…" : ""}${text}`),
    styleText("dim", `${" ".repeat(6)} │ `) +
      " ".repeat(column - 1 - from + (from > 0 ? 1 : 0)) +
      styleText("red", "^"),
  ];
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

function closing(findings: readonly Finding[], summary: Summary, hidden: number): string {
  const count = (severity: Severity): number => findings.filter((finding) => finding.severity === severity).length;
  const errors = count("error");
  const mark = errors > 0 ? styleText("red", "✖") : styleText("green", "✔");
  const seconds = (summary.elapsedMs / 1000).toFixed(2);
  const parts = [plural(errors, "error"), plural(count("warning"), "warning")];
  const site = `${plural(summary.pages, "page")} (${summary.framework}) in ${seconds} s`;
  const fixed = summary.fixed > 0 ? `, ${plural(summary.fixed, "fix").replace(/fixs$/, "fixes")} applied` : "";
  const more = hidden > 0 ? `, ${plural(hidden, "note")} (--info shows them)` : "";
  return `${mark} ${parts.join(", ")}${more}${fixed} · ${site}`;
}
