import type { EvalResult } from "./run-task.ts";
import { type EvalTask, kinds } from "./task.ts";

export interface EvalRow {
  task: EvalTask;
  result: EvalResult;
}

/** One line a task, one a kind, and the sum. */
export function formatTable(model: string, rows: readonly EvalRow[]): string {
  const lines = [
    `# ${model}`,
    "",
    "| task | passed | turns | tokens | cost | time | rules must pass |",
    "|---|---|---|---|---|---|---|",
    ...rows.map(({ task, result }) =>
      row([`${task.kind}, ${task.name}`, verdict(result), ...figures([result]), task.rulesMustPass ? "yes" : ""]),
    ),
    "",
    "| kind | passed | turns | tokens | cost | time |",
    "|---|---|---|---|---|---|",
  ];
  for (const kind of kinds)
    lines.push(
      summary(
        kind,
        rows.filter(({ task }) => task.kind === kind),
      ),
    );
  lines.push(
    summary("all", rows),
    summary(
      "those that rules must pass",
      rows.filter(({ task }) => task.rulesMustPass),
    ),
  );
  return lines.join("\n");
}

function summary(name: string, rows: readonly EvalRow[]): string {
  const passed = rows.filter(({ result }) => result.problems.length === 0).length;
  return row([name, `${passed} of ${rows.length}`, ...figures(rows.map(({ result }) => result))]);
}

function verdict({ problems }: EvalResult): string {
  return problems.length === 0 ? "yes" : `no: ${problems[0]?.replaceAll("|", "\\|").slice(0, 120)}`;
}

function figures(results: readonly EvalResult[]): readonly string[] {
  const sum = (of: (result: EvalResult) => number) => results.reduce((total, result) => total + of(result), 0);
  return [
    String(sum(({ turns }) => turns)),
    String(sum(({ tokens }) => tokens)),
    `$${sum(({ costUsd }) => costUsd).toFixed(4)}`,
    `${(sum(({ ms }) => ms) / 1000).toFixed(2)} s`,
  ];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}
