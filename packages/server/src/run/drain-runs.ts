import { setTimeout as pause } from "node:timers/promises";
import { type ActiveRun, Released } from "./active-run.ts";

/**
 * Lets runs reach their next stored step, or their end, and interrupts those that take too long: what is lost then is
 * at most one turn. The last fifth of the time is for giving them back.
 */
export async function drainRuns(
  worker: { idle: Promise<unknown>; runs: ReadonlyMap<string, { run: ActiveRun; settled: Promise<void> }> },
  drainMsMax: number,
): Promise<void> {
  // A claim under way may still bring a run; a database that hangs must not use up the time.
  await doneWithin(worker.idle, drainMsMax * 0.1);
  const runs = [...worker.runs.values()];
  const all = Promise.all(runs.map(({ settled }) => settled));
  for (const { run } of runs) run.draining = true;
  if (await doneWithin(all, drainMsMax * 0.7)) return;
  for (const { run } of runs) run.controller.abort(new Released());
  await doneWithin(all, drainMsMax * 0.2);
}

async function doneWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  const clock = new AbortController();
  const late = pause(ms, false, { signal: clock.signal }).catch(() => false);
  const done = await Promise.race([work.then(() => true), late]);
  clock.abort();
  return done;
}
