import { createFarEnds } from "@emend/testkit/scripted-stages.ts";
import type { Experiment, Setting } from "./experiment.ts";
import { judge, type Verdict } from "./judge.ts";

/** Runs an experiment and lets the judge evaluate it. */
export async function runExperiment(experiment: Experiment, setting: Setting): Promise<Verdict> {
  await createFarEnds(setting.pool);
  await experiment.run(setting);
  return judge(setting.pool, setting.history.entries());
}
