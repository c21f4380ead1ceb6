import { judge } from "./judge.ts";
import { attempt, type Product } from "./product.ts";
import type { EvalRow } from "./table.ts";
import type { EvalTask } from "./task.ts";

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
