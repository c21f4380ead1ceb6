import { AppError } from "../../errors.ts";
import type { Model } from "../agent.ts";
import type { Endpoint } from "../models/vendor.ts";
import { claudeCode } from "./claude-code.ts";
import { codex } from "./codex.ts";
import { findProgram } from "./find-program.ts";
import { opencode } from "./opencode.ts";
import { type ReadyRunner, runRunner } from "./run-runner.ts";
import type { RunnerProgram, RunnerSettings } from "./runner.ts";
import { trySandbox } from "./sandbox.ts";
import { runnerVendors } from "./vendors.ts";

/** A new program is one file beside this one and one entry here. */
const programs: readonly RunnerProgram[] = [claudeCode, codex, opencode];

const prefix = "runner/";

export function isRunner(modelName: string): boolean {
  return modelName.startsWith(prefix);
}

interface RunnerDeps {
  settings: RunnerSettings;
  /** By which the gateway asks the model: it heeds the operator's proxy and authorities. */
  fetch: typeof globalThis.fetch;
  /** The installation's, by vendor. */
  endpoints: Readonly<Record<string, Endpoint>>;
  /** The project's own key for a vendor. */
  keyOf(vendor: string): Promise<string | null>;
}

/** The runner of this name, `runner/<program>` or `runner/<program>/<model>`, or `model_unavailable` in words. */
export async function openRunner(deps: RunnerDeps, name: string): Promise<Model> {
  const [, programName = "", ...rest] = name.split("/");
  const program = programs.find((one) => one.name === programName);
  if (!program) throw unavailable(`There is no runner ${JSON.stringify(name.slice(0, 200))}. There is ${known()}.`);
  const model = rest.length === 0 ? null : rest.join("/");
  // It becomes an argument: nothing in it may look like an option.
  if (model !== null && !/^[\w][\w./:@-]*$/.test(model)) throw unavailable(`${JSON.stringify(model)} names no model.`);

  const { settings } = deps;
  if (!settings.allowed.includes(program.name)) {
    throw unavailable(`The runner ${program.name} is not among those that EMEND_RUNNERS allows here.`);
  }
  const file = await findProgram(program.command, settings.path);
  if (file === null) {
    throw unavailable(`The runner ${program.name} needs the program ${program.command}, which is not on the PATH.`);
  }
  const vendorName = program.vendorOf(model);
  const vendor = runnerVendors.find((one) => one.name === vendorName);
  if (!vendor) {
    const names = runnerVendors.map((one) => one.name).join(" or ");
    throw unavailable(`The runner ${program.name} reaches ${names}, not ${vendorName}.`);
  }
  const endpoint = deps.endpoints[vendor.name];
  const apiKey = (await deps.keyOf(vendor.name)) ?? endpoint?.apiKey ?? null;
  if (apiKey === null)
    throw unavailable(`The runner ${program.name} needs a key for ${vendor.name}, which is not set.`);
  const runner = {
    name,
    program,
    file,
    model,
    far: { vendor, apiKey, baseUrl: vendor.addressOf(endpoint?.baseUrl ?? null) },
    sandbox: await sandboxFor(settings),
    settings,
    fetch: deps.fetch,
  };
  return {
    name,
    nature: "language",
    run: (agent, task, signal) => runRunner(runner, agent, task, signal),
    nextTurn: () => Promise.reject(new Error("a runner takes no turns")),
  };
}

async function sandboxFor(settings: RunnerSettings): Promise<ReadyRunner["sandbox"]> {
  if (settings.isUnsandboxed) return null;
  const trial = await trySandbox(settings.path);
  if (trial.kind === "usable") return trial;
  throw unavailable(
    `Runners work in a sandbox, and ${trial.words}. Install bubblewrap, or set EMEND_RUNNER_UNSANDBOXED=1 on a machine that holds nothing else.`,
  );
}

function known(): string {
  return programs.map((program) => prefix + program.name).join(", ");
}

function unavailable(publicMessage: string): AppError {
  return new AppError("model_unavailable", { publicMessage });
}
