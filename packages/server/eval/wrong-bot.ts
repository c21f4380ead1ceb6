import { type FarModel, type FarTurn, protocols, startFarModel } from "../test/support/far-model.ts";
import { mutantsOf } from "./mutants.ts";
import type { Product } from "./product.ts";
import { type EvalRow, evaluate } from "./table.ts";
import type { Answer, EvalTask } from "./task.ts";

/** The vendor of an agent that is wrong on purpose. Its answers go through the API, the tools and the review. */
export interface WrongBot {
  environment: FarModel["environment"];
  evaluate(
    product: Product,
    tasks: readonly EvalTask[],
    onResult: (row: EvalRow) => void,
    signal: AbortSignal,
  ): Promise<readonly EvalRow[]>;
  stop(): Promise<void>;
}

export async function startWrongBot(): Promise<WrongBot> {
  let script: (turn: number) => FarTurn = () => "";
  const far = await startFarModel((turn) => script(turn));
  return {
    environment: far.environment,
    async evaluate(product, tasks, onResult, signal) {
      const rows: EvalRow[] = [];
      for (const [index, task] of tasks.entries()) {
        const { name, turns } = wrongTurns(task, index);
        script = turns;
        const [row] = await evaluate(product, protocols[0], [task], {}, signal);
        // A job that fails before its first turn proves nothing of the eval.
        if (!row || row.figures.turns === 0) throw new Error(`${task.name}: the wrong answer was never asked for`);
        // Told which way of being wrong it was: one that passes is a hole in the eval.
        const shown = { ...row, task: { ...task, name: `${task.name} (${name})` } };
        onResult(shown);
        rows.push(shown);
      }
      return rows;
    },
    stop: () => far.stop(),
  };
}

/** Each task is done wrong in one way: nothing, filler, half, too much, an invention, at the wrong place, and so on. */
export function wrongTurns(task: EvalTask, index: number): { name: string; turns(turn: number): FarTurn } {
  const wrong = [...mutantsOf(task), ...(task.wrong ?? [])];
  const mutant = wrong[index % wrong.length];
  if (!mutant) throw new Error(`${task.name} has no wrong answer`);
  const finish: [string, unknown] = ["finish", wordsOf(mutant)];
  const work = [...editsOf(task, mutant), finish];
  return { name: mutant.name, turns: (turn) => (turn === 0 ? work : [finish]) };
}

function editsOf(task: EvalTask, { files }: Answer): [string, unknown][] {
  const paths = [...new Set([...Object.keys(task.files), ...Object.keys(files)])];
  return paths.flatMap((path): [string, unknown][] => {
    const content = files[path];
    if (content === task.files[path]) return [];
    return [content === undefined ? ["delete_file", { path }] : ["write_file", { path, content }]];
  });
}

function wordsOf({ title, summary, sources = [] }: Answer): Record<string, unknown> {
  return { title, summary, reply: summary, ...(sources.length > 0 && { sources }) };
}
