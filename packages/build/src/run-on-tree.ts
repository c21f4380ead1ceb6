import { basename } from "node:path";
import { bind, inside } from "@emend/runners";
import type { Tree } from "@emend/tree";
import type { Plan } from "./plan.ts";
import { type BuildEnd, runBuild } from "./run-build.ts";
import { own, placeOf, type ScriptDeps } from "./run-script.ts";

/** Runs a script of ours on the files of a tree, with the site's packages, as a builder runs. */
export function runOnTree(
  deps: ScriptDeps,
  task: {
    tree: Tree;
    plan: Pick<Plan, "mounts" | "packageFolders">;
    /** For people. */
    name: string;
    script: string;
    modules: readonly string[];
    /** A file for the script: what it has to do. */
    order: string;
    mounts?: readonly string[];
    /** An empty file for the sandbox, as no site is built. */
    siteFile: string;
  },
  signal: AbortSignal,
): Promise<BuildEnd> {
  const script = placeOf(task.script);
  const order = own("order.json");
  const plan: Plan = {
    ...task.plan,
    name: task.name,
    folder: "",
    command: [inside.node, "--no-warnings", script, order],
    site: null,
    mounts: [
      ...bind(task.script, script),
      ...task.modules.flatMap((file) => bind(file, own(basename(file)))),
      ...bind(task.order, order),
      ...(task.mounts ?? []),
      ...task.plan.mounts,
    ],
    key: "",
  };
  return runBuild(deps, { tree: task.tree, plan, siteFile: task.siteFile }, signal);
}
