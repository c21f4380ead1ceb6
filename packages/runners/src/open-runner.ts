import { claudeCode } from "./programs/claude-code.ts";
import { codex } from "./programs/codex.ts";
import { opencode } from "./programs/opencode.ts";
import { runRunner } from "./run-runner.ts";
import type { Runner, RunnerDeps, RunnerProgram } from "./runner.ts";
import { findProgram, trySandbox } from "./sandbox.ts";
import { runnerVendors } from "./vendors.ts";

/** A new program is one file in `programs/` and one entry here. */
const programs: readonly RunnerProgram[] = [claudeCode, codex, opencode];

const prefix = "runner/";

export function isRunner(modelName: string): boolean {
  return modelName.startsWith(prefix);
}

type Opened = { kind: "opened"; runner: Runner } | { kind: "unavailable"; words: string };

/** The runner of this name, `runner/<program>` or `runner/<program>/<model>`, or why there is none. */
export async function openRunner(deps: RunnerDeps, name: string): Promise<Opened> {
  const [, programName = "", ...rest] = name.split("/");
  const program = programs.find((one) => one.name === programName);
  if (!program) return unavailable(`There is no runner ${JSON.stringify(name.slice(0, 200))}. There is ${known()}.`);
  const model = rest.length === 0 ? null : rest.join("/");
  // It becomes an argument, so it must not look like an option.
  if (model !== null && !/^[\w][\w./:@-]*$/.test(model)) return unavailable(`${JSON.stringify(model)} names no model.`);

  const { settings } = deps;
  if (!settings.allowed.includes(program.name)) {
    return unavailable(`The runner ${program.name} is not among those that EMEND_RUNNERS allows here.`);
  }
  const file = await findProgram(program.command, settings.path);
  if (file === null) {
    return unavailable(`The runner ${program.name} needs the program ${program.command}, which is not on the PATH.`);
  }
  const vendorName = program.vendorOf(model);
  const vendor = runnerVendors.find((one) => one.name === vendorName);
  if (!vendor) {
    const names = runnerVendors.map((one) => one.name).join(" or ");
    return unavailable(`The runner ${program.name} reaches ${names}, not ${vendorName}.`);
  }
  const { apiKey, baseUrl } = await deps.endpointOf(vendor.name);
  if (apiKey === null)
    return unavailable(`The runner ${program.name} needs a key for ${vendor.name}, which is not set.`);
  const sandbox = settings.isUnsandboxed ? null : await trySandbox(deps.start, settings.path);
  if (sandbox?.kind === "unusable") {
    return unavailable(
      `Runners work in a sandbox, and ${sandbox.words}. Install bubblewrap, or set EMEND_RUNNER_UNSANDBOXED=1 on a machine that holds nothing else.`,
    );
  }
  const far = { vendor, apiKey, baseUrl: baseUrl ?? vendor.baseUrl };
  const ready = { program, file, model, far, sandbox };
  return {
    kind: "opened",
    runner: { name, program: program.name, apiKey, run: (task, signal) => runRunner(deps, ready, task, signal) },
  };
}

function known(): string {
  return programs.map(({ name }) => prefix + name).join(", ");
}

function unavailable(words: string): Opened {
  return { kind: "unavailable", words };
}
