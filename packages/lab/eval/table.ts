import { judge } from "./judge.ts";
import { attempt, type Figures, type Product } from "./product.ts";
import { type EvalTask, kinds } from "./task.ts";

export interface EvalRow {
  task: Pick<EvalTask, "name" | "kind" | "rulesMustPass">;
  figures: Figures;
  /** What is wrong. Empty: passed. */
  problems: readonly string[];
}

/** One line per task and per kind, and the sum; then the tokens of the tools' results. */
export function formatTable(model: string, rows: readonly EvalRow[]): string {
  const required = rows.filter(({ task }) => task.rulesMustPass);
  return [
    `# ${model}`,
    "",
    "| task | passed | turns | input tokens | output tokens | cost | time |",
    "|---|---|---|---|---|---|---|",
    ...rows.map((one) => row([`${one.task.kind}, ${one.task.name}`, verdict(one), ...sums([one])])),
    "",
    "| kind | passed | turns | input tokens | output tokens | cost | time |",
    "|---|---|---|---|---|---|---|",
    ...kinds.flatMap((kind) => {
      const ofKind = rows.filter(({ task }) => task.kind === kind);
      return ofKind.length === 0 ? [] : [summary(kind, ofKind)];
    }),
    summary("all", rows),
    summary("that emend/rules must pass", required),
    "",
    "| tool | tokens of its results |",
    "|---|---|",
    ...tokensByTool(rows).map(([tool, tokens]) => row([tool, String(tokens)])),
    "",
  ].join("\n");
}

/** Two models on the same tasks, side by side. */
export function compareTables(results: ReadonlyArray<{ model: string; rows: readonly EvalRow[] }>): string {
  const [first, second] = results;
  if (!first || !second) return "";
  const differing = first.rows.flatMap((one, index) => {
    const other = second.rows[index];
    if (!other || (one.problems.length === 0) === (other.problems.length === 0)) return [];
    return [row([`${one.task.kind}, ${one.task.name}`, verdict(one), verdict(other)])];
  });
  return [
    `# ${first.model} beside ${second.model}`,
    "",
    "| | passed | turns | input tokens | output tokens | cost | time |",
    "|---|---|---|---|---|---|---|",
    ...results.map(({ model, rows }) => summary(model, rows)),
    "",
    `| differs | ${first.model} | ${second.model} |`,
    "|---|---|---|",
    ...differing,
    "",
  ].join("\n");
}

function tokensByTool(rows: readonly EvalRow[]): readonly (readonly [string, number])[] {
  const totals = new Map<string, number>();
  for (const { figures } of rows) {
    for (const [tool, tokens] of Object.entries(figures.tokensByTool)) {
      totals.set(tool, (totals.get(tool) ?? 0) + tokens);
    }
  }
  return [...totals].sort(([, a], [, b]) => b - a);
}

function summary(name: string, rows: readonly EvalRow[]): string {
  return row([name, `${rows.filter(({ problems }) => problems.length === 0).length} of ${rows.length}`, ...sums(rows)]);
}

function verdict({ problems }: EvalRow): string {
  return problems.length === 0
    ? "yes"
    : `no: ${problems[0]?.replaceAll("|", "\\|").replaceAll("\n", " ").slice(0, 120)}`;
}

function sums(rows: readonly EvalRow[]): readonly string[] {
  const sum = (of: (figures: EvalRow["figures"]) => number) =>
    rows.reduce((total, { figures }) => total + of(figures), 0);
  return [
    String(sum(({ turns }) => turns)),
    String(sum(({ inputTokens }) => inputTokens)),
    String(sum(({ outputTokens }) => outputTokens)),
    `$${sum(({ costUsd }) => costUsd).toFixed(4)}`,
    `${(sum(({ ms }) => ms) / 1000).toFixed(1)} s`,
  ];
}

function row(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** Runs the tasks one after the other on the product and judges each result. */
export async function evaluate(
  product: Product,
  model: string,
  tasks: readonly EvalTask[],
  { onResult }: { onResult?(row: EvalRow): void },
  signal: AbortSignal,
): Promise<readonly EvalRow[]> {
  const rows: EvalRow[] = [];
  for (const task of tasks) {
    const { answer, figures } = await attempt(product, model, task, signal);
    const row = { task, figures, problems: judge(task, answer) };
    onResult?.(row);
    rows.push(row);
  }
  return rows;
}
