import { randomBytes } from "node:crypto";
import { lstat, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { outputBytesMax, type ProgramEnd, runProgram } from "../run-program.ts";
import type { StartProcess } from "../runner.ts";
import { around, bind, confined, findProgram, inside, pythonHome, type Sandbox, scriptPython } from "../sandbox.ts";

export interface ConfigTask {
  /** The repository on disk, which the configuration can read. Its `.git` is hidden. */
  folder: string;
  /** The configuration's path in it. */
  marker: string;
  framework: string;
}

/** `words`: why there are no values, for a person. */
export type Evaluation = { kind: "evaluated"; values: unknown } | { kind: "failed"; words: string };

interface EvaluateDeps {
  start: StartProcess;
  sandbox: Sandbox;
  /** The search path for Python. */
  path: string;
  /** Replaces the limits in tests. */
  limits?: Partial<Limits>;
}

interface Limits {
  timeoutMs: number;
  memoryBytesMax: number;
}

const usualLimits: Limits = { timeoutMs: 60_000, memoryBytesMax: 2 * 2 ** 30 };
const homeBytesMax = 64 * 2 ** 20;
const wordsMax = 300;

const scripts = {
  node: fileURLToPath(new URL("./load-config.ts", import.meta.url)),
  python: fileURLToPath(new URL("./load-config.py", import.meta.url)),
};

/** How each framework's configuration is loaded. */
const languages: Readonly<Record<string, "node" | "python">> = {
  docusaurus: "node",
  mkdocs: "python",
  nextra: "node",
  sphinx: "python",
  starlight: "node",
  vitepress: "node",
};

/** Whether a framework's configuration is a program, or is extended by one. */
export function canEvaluate(framework: string): boolean {
  return Object.hasOwn(languages, framework);
}

/**
 * Runs a site's configuration in the sandbox and returns its values: without a network, without this process's
 * environment, and with nothing on disk that it could change.
 */
export async function evaluateConfig(deps: EvaluateDeps, task: ConfigTask, signal: AbortSignal): Promise<Evaluation> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "emend-config-")));
  const limits = { ...usualLimits, ...deps.limits };
  // A configuration may print anything; its values come after this.
  const mark = randomBytes(16).toString("hex");
  try {
    const work = await realpath(task.folder);
    const language = languages[task.framework] ?? "node";
    const python = language === "python" ? await findPython(work, task.framework, deps.path) : null;
    if (language === "python" && python === null) return failed("python3 is not installed");
    const script = `/run/emend/${basename(scripts[language]).replace(/\.([tj]s)$/, ".m$1")}`;
    const mounts = [
      ...bind(scripts[language], script),
      ...["--size", String(homeBytesMax), "--tmpfs", inside.home],
      ...bind(work, inside.work),
      ...(await hideGit(work)),
      ...(python?.mounts ?? []),
    ];
    const program = python === null ? [inside.node, "--no-warnings", script] : [python.file, script];
    const command = await confined({ sandbox: deps.sandbox, dir, mounts, command: program });
    const end = await runProgram(
      deps.start,
      {
        command,
        cwd: work,
        env: { HOME: inside.home, PATH: inside.path, TMPDIR: "/tmp", LANG: "C.UTF-8", NODE_ENV: "production" },
        stdin: JSON.stringify({ work: inside.work, marker: task.marker, framework: task.framework, mark }),
        memoryBytesMax: limits.memoryBytesMax,
        clock: AbortSignal.timeout(limits.timeoutMs),
        statusFile: join(dir, "status.json"),
      },
      signal,
    );
    return readEnd(end, mark, limits);
  } finally {
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

function failed(words: string): Evaluation {
  return { kind: "failed", words };
}

function readEnd(end: ProgramEnd, mark: string, { timeoutMs }: Limits): Evaluation {
  switch (end.kind) {
    case "timed out":
      return failed(`it did not end within ${timeoutMs / 1000} s`);
    case "too large":
      return failed(`it used ${end.words}`);
    case "exited": {
      const at = end.stdout.lastIndexOf(mark);
      const answer = at === -1 ? null : parse(end.stdout.slice(at + mark.length));
      if (answer === null && Buffer.byteLength(end.stdout) >= outputBytesMax) {
        return failed(`it printed more than ${outputBytesMax / 2 ** 20} MiB`);
      }
      if (answer === null) {
        const last = lastLine(end.stderr);
        return failed(`it ended with code ${end.code} and no values${last === "" ? "" : `: ${last}`}`);
      }
      return "error" in answer
        ? failed(String(answer.error).replaceAll(`${inside.work}/`, "").slice(0, wordsMax))
        : { kind: "evaluated", values: answer.values };
    }
  }
}

function parse(text: string): { error: unknown } | { values: unknown } | null {
  try {
    const answer: unknown = JSON.parse(text);
    return typeof answer === "object" && answer !== null && ("error" in answer || "values" in answer) ? answer : null;
  } catch {
    // Cut off, or written by something else.
    return null;
  }
}

function lastLine(text: string): string {
  return (text.trim().split("\n").at(-1) ?? "").slice(0, wordsMax);
}

/** The repository's own settings may hold a credential. */
async function hideGit(work: string): Promise<readonly string[]> {
  const found = await lstat(join(work, ".git")).catch(() => null);
  if (found === null) return [];
  const inner = `${inside.work}/.git`;
  return found.isDirectory() ? ["--tmpfs", inner] : bind("/dev/null", inner);
}

/**
 * The site's virtual environment if there is one, otherwise the Python of its builder, otherwise the machine's; with the
 * folders that it needs.
 */
async function findPython(
  work: string,
  framework: string,
  path: string,
): Promise<{ file: string; mounts: readonly string[] } | null> {
  for (const name of [".venv", "venv"]) {
    const home = await pythonHome(join(work, name));
    if (home !== null) return { file: `${inside.work}/${name}/bin/python3`, mounts: around(home) };
  }
  const builder = await findProgram(framework === "sphinx" ? "sphinx-build" : framework, path);
  const own = builder === null ? null : await scriptPython(builder);
  const file = own ?? (await findProgram("python3", path));
  if (file === null) return null;
  const home = await pythonHome(resolve(file, "../.."));
  return { file, mounts: [...around(dirname(file)), ...(home === null ? [] : around(home))] };
}
