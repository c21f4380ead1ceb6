import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { openAdmin } from "../../server/src/admin/open-admin.ts";
import { loadConfig } from "../../server/src/config/config.ts";

export interface ServeProcess {
  port: number;
  child: ChildProcess;
  /** Stops it, and returns how it ended and how long it took. */
  stop(): Promise<{ code: number | string; elapsedMs: number }>;
}

const program = fileURLToPath(new URL("../../cli/bin/emend.cjs", import.meta.url));

const runProgram = ["--disable-warning=ExperimentalWarning"];
const baseEnv = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", EMEND_LOG_LEVEL: "silent" };

/** A command of the program in another folder, which ends by itself. */
export async function runCommand(
  folder: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<string> {
  const main = join(folder, "packages/cli/src/main.ts");
  const options = { env: { ...baseEnv, ...env }, cwd: folder };
  return (await promisify(execFile)(process.execPath, [...runProgram, main, ...args], options)).stdout;
}

/** The program as people run it: ours, or that of another folder. With a public URL it cannot report a port of its own. */
export async function startServe(env: Record<string, string>, folder?: string, port = 0): Promise<ServeProcess> {
  const main = folder === undefined ? program : join(folder, "packages/cli/src/main.ts");
  const child = spawn(process.execPath, [...runProgram, main, "serve", "--port", String(port)], {
    env: { ...baseEnv, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit").then(([code, signal]): number | string => signal ?? code);
  const early = exited.then((code) => Promise.reject(new Error(`serve ended with ${code} before it was ready`)));
  early.catch(() => {});
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), early]);
  return {
    port: port || Number(new URL(JSON.parse(line as string).url).port),
    child,
    async stop() {
      const startedAt = performance.now();
      child.kill("SIGTERM");
      return { code: await exited, elapsedMs: performance.now() - startedAt };
    },
  };
}

export interface ChaosInstallation {
  env: Record<string, string>;
  projectId: string;
  key: string;
  remove(): Promise<void>;
}

/** A local project with a page that jobs can change, for complete servers on one database. */
export async function makeInstallation(databaseUrl: string): Promise<ChaosInstallation> {
  const dir = await mkdtemp(join(tmpdir(), "emend-chaos-"));
  const env = {
    EMEND_DATABASE_URL: databaseUrl,
    EMEND_SECRET: "the secret of an experiment, and of nothing else",
    EMEND_DATA_DIR: join(dir, "data"),
    EMEND_FORGE_DIR: join(dir, "forge"),
  };
  await mkdir(join(dir, "docs"));
  await writeFile(join(dir, "docs", "index.md"), "# Docs\n\nAn API token opens the door.\n");
  const admin = await openAdmin(loadConfig(env));
  try {
    const settings = { createsPerHourMax: 1_000_000, lanes: 8 };
    const project = await admin.addProject({ name: "Docs", forge: "local", repo: join(dir, "docs"), settings });
    const { key } = await admin.createKey({ projectIds: [project.id], name: "chaos", scope: "write" });
    return { env, projectId: project.id, key, remove: () => rm(dir, { recursive: true, force: true }) };
  } finally {
    await admin.close();
  }
}

export const chaosPrompt = 'Replace "API token" with "access key".';
