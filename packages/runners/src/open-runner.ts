import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { startModelGateway } from "./model-gateway.ts";
import { claudeCode } from "./programs/claude-code.ts";
import { codex } from "./programs/codex.ts";
import { opencode } from "./programs/opencode.ts";
import { type ProgramEnd, runProgram } from "./run-program.ts";
import type { Runner, RunnerAccess, RunnerDeps, RunnerEnd, RunnerProgram, RunnerTask } from "./runner.ts";
import { findProgram, inside, type SandboxTrial, sandboxed, trySandbox } from "./sandbox.ts";
import { type RunnerVendor, runnerVendors } from "./vendors.ts";

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

interface ReadyProgram {
  program: RunnerProgram;
  file: string;
  /** The program's model. Null: its default. */
  model: string | null;
  /** The model for the gateway; its URL includes the version. */
  far: { vendor: RunnerVendor; apiKey: string; baseUrl: string };
  /** Null: without a sandbox. */
  sandbox: Extract<SandboxTrial, { kind: "usable" }> | null;
}

/** The folders of one run on the host. */
interface Place {
  /** Only we write here. */
  dir: string;
  home: string;
  /** The checkout. */
  work: string;
}

/** Runs one task in the program. */
async function runRunner(
  deps: RunnerDeps,
  ready: ReadyProgram,
  task: RunnerTask,
  signal: AbortSignal,
): Promise<RunnerEnd> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "emend-runner-")));
  const place = { dir, home: join(dir, "home"), work: await realpath(task.folder) };
  try {
    await mkdir(place.home, { mode: 0o700 });
    const end = await execute(deps, ready, { task, place }, signal);
    return end.kind === "exited" ? read(ready, end) : end;
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function execute(
  deps: RunnerDeps,
  ready: ReadyProgram,
  { task, place }: { task: RunnerTask; place: Place },
  signal: AbortSignal,
): Promise<ProgramEnd> {
  const { program, sandbox, file } = ready;
  const socketPath = sandbox === null ? null : join(place.dir, "gateway.sock");
  const model = program.asksFor?.(ready.model) ?? null;
  const gateway = await startModelGateway(deps, { ...ready.far, model, socketPath });
  try {
    const gatewayUrl = `http://127.0.0.1:${gateway.port ?? inside.port}`;
    const access = { token: gateway.token, gatewayUrl, model: ready.model };
    for (const [path, text] of Object.entries(program.homeFiles?.(access) ?? {})) {
      await mkdir(dirname(join(place.home, path)), { recursive: true });
      await writeFile(join(place.home, path), text);
    }
    const args = program.arguments({ ...access, isSandboxed: sandbox !== null });
    const command = sandbox === null ? [file, ...args] : await sandboxed({ sandbox, file, args, place });
    return await runProgram(
      deps.start,
      {
        command,
        cwd: place.work,
        env: environmentOf(deps, ready, place, access),
        stdin: task.instructions,
        memoryBytesMax: deps.settings.memoryBytesMax,
        clock: task.clock,
        statusFile: sandbox === null ? null : join(place.dir, "status.json"),
      },
      signal,
    );
  } finally {
    await gateway.close();
  }
}

/** Nothing of the server's environment except PATH. */
function environmentOf(deps: RunnerDeps, { program, sandbox }: ReadyProgram, place: Place, access: RunnerAccess) {
  const isSandboxed = sandbox !== null;
  // The gateway refuses everything else that a program tries to reach.
  const proxy = access.gatewayUrl;
  return {
    HOME: isSandboxed ? inside.home : place.home,
    PATH: isSandboxed ? inside.path : deps.settings.path,
    TMPDIR: isSandboxed ? "/tmp" : place.home,
    LANG: process.platform === "darwin" ? "en_US.UTF-8" : "C.UTF-8",
    TERM: "dumb",
    HTTPS_PROXY: proxy,
    https_proxy: proxy,
    HTTP_PROXY: proxy,
    http_proxy: proxy,
    NO_PROXY: "127.0.0.1",
    no_proxy: "127.0.0.1",
    NODE_USE_ENV_PROXY: "1",
    ...program.environment(access),
  };
}

/** Removes the key from output and errors: without a sandbox a program may have found it. */
function read({ program, far }: ReadyProgram, end: Extract<ProgramEnd, { kind: "exited" }>): RunnerEnd {
  const quiet = (text: string) => text.replaceAll(far.apiKey, "…");
  if (end.code !== 0) return { kind: "failed", words: quiet(end.stderr || end.stdout) };
  try {
    const answer = program.readAnswer(end.stdout);
    return { kind: "answered", answer: { ...answer, text: quiet(answer.text) } };
  } catch (cause) {
    return { kind: "failed", words: quiet(cause instanceof SyntaxError ? end.stdout || end.stderr : String(cause)) };
  }
}
