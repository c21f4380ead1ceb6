import type { EvalTask } from "../task.ts";
import { tasksOf } from "./define.ts";
import { exactTasks } from "./exact.ts";
import { followUpTasks, injectionTasks, restraintTasks } from "./restraint.ts";
import { writtenTasks } from "./written.ts";

/** Every task on every framework's site. */
export function evalTasks(): readonly EvalTask[] {
  return tasksOf([...exactTasks, ...writtenTasks, ...injectionTasks, ...restraintTasks, ...followUpTasks]);
}
