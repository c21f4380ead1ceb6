import type { Model } from "../src/agent/agent.ts";
import { isAppError } from "../src/errors.ts";
import type { CommitTree } from "../src/tree/tree.ts";
import { runTask } from "./run-task.ts";
import type { EvalRow } from "./table.ts";
import type { EvalTask } from "./task.ts";

/** Runs the tasks one after the other. A model that is away fails its task, not the suite. */
export async function evaluate(
  model: Model,
  tasks: readonly EvalTask[],
  deps: { open(files: EvalTask["files"]): Promise<CommitTree>; onResult?(row: EvalRow): void },
  signal: AbortSignal,
): Promise<readonly EvalRow[]> {
  const rows: EvalRow[] = [];
  for (const task of tasks) {
    const base = await deps.open(task.files);
    const context = new Map<string, CommitTree>();
    for (const [name, files] of Object.entries(task.context ?? {})) context.set(name, await deps.open(files));
    const result = await runTask(model, task, { base, context }, signal).catch((error: unknown) => {
      if (!isAppError(error, "model_unavailable")) throw error;
      return { problems: [error.publicMessage], turns: 0, tokens: 0, costUsd: 0, ms: 0 };
    });
    const row = { task, result };
    deps.onResult?.(row);
    rows.push(row);
  }
  return rows;
}
