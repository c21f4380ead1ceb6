import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { bind, confined, inside, runProgram, type Sandbox, type StartProcess } from "@emend/runners";
import type { BuildLimits } from "./limits.ts";

export interface ScriptDeps {
  start: StartProcess;
  sandbox: Sandbox;
  limits: BuildLimits;
}

/** A path inside the sandbox for a file of ours. */
export function own(name: string): string {
  return `/run/emend/${name}`;
}

/** Where a script of ours is inside. Its name says that it is a module. */
export function placeOf(script: string): string {
  return own(basename(script).replace(/\.([tj]s)$/, ".m$1"));
}

/** Runs a script of ours, which imports nothing of ours, in a sandbox without a network. Nothing stays behind. */
export async function runScript(
  { start, sandbox, limits }: ScriptDeps,
  task: {
    /** Its file, and those that it imports. */
    script: string;
    modules?: readonly string[];
    args: readonly string[];
    mounts: readonly string[];
    env: Readonly<Record<string, string>>;
    stdin: string | AsyncIterable<Buffer>;
    timeoutMs: number;
  },
  signal: AbortSignal,
) {
  const script = placeOf(task.script);
  const dir = await realpath(await mkdtemp(join(tmpdir(), "emend-build-")));
  try {
    const modules = (task.modules ?? []).flatMap((file) => bind(file, own(basename(file))));
    const mounts = [...bind(task.script, script), ...modules, ...task.mounts];
    const command = [inside.node, "--no-warnings", script, ...task.args];
    return await runProgram(
      start,
      {
        command: await confined({ sandbox, dir, mounts, command }),
        cwd: dir,
        env: { HOME: inside.home, PATH: inside.path, TMPDIR: "/tmp", LANG: "C.UTF-8", ...task.env },
        stdin: task.stdin,
        memoryBytesMax: limits.memoryBytesMax,
        processesMax: limits.processesMax,
        clock: AbortSignal.timeout(task.timeoutMs),
        statusFile: join(dir, "status.json"),
      },
      signal,
    );
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}
