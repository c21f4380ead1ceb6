import { cp } from "node:fs/promises";
import { join } from "node:path";
import { type Running, runEmend, startEmend } from "./run-emend.ts";
import { makeDataDir, makeTempDir, removeDir } from "./temp-dir.ts";

export interface Installation {
  url: string;
  /** The sample docs' project, on the local forge. */
  project: string;
  key: string;
  /** The environment of programs that connect to it. */
  env: Record<string, string>;
  dir: string;
  dataDir: string;
  newKey(...options: string[]): Promise<string>;
  /** Stops only the server. Its data stays until `stop`. */
  stopServer(): Promise<void>;
  stop(): Promise<void>;
}

const sample = join(import.meta.dirname, "..", "..", "sample");

/** A real server with its own database, one project and one key, as an operator sets it up. */
export async function startInstallation(environment: Record<string, string> = {}): Promise<Installation> {
  const dir = await makeTempDir();
  const dataDir = await makeDataDir(join(dir, "data"));
  const docs = join(dir, "docs");
  await cp(sample, docs, { recursive: true });
  const server = startEmend(["serve", "--port", "0", "--data", dataDir], {
    env: { EMEND_LOG_LEVEL: "silent", ...environment },
  });
  await server.untilPrinted('"event":"ready"');
  // The next line may be there already.
  const [ready = ""] = server.stdout().split("\n", 1);
  const url: string = JSON.parse(ready).url;
  const project = await printed(["project", "add", "Docs", "--forge", "local", "--repo", docs, "--data", dataDir]);
  const newKey = (...options: string[]) =>
    printed(["key", "create", "--project", project, "--data", dataDir, ...options]);
  const key = await newKey();
  return {
    url,
    project,
    key,
    env: { EMEND_URL: url, EMEND_API_KEY: key, PROJECT: project },
    dir,
    dataDir,
    newKey,
    stopServer: () => stopServer(server),
    stop: async () => {
      await stopServer(server);
      await removeDir(dir);
    },
  };
}

async function printed(args: string[]): Promise<string> {
  const { code, stdout, stderr } = await runEmend(args);
  if (code !== 0) throw new Error(stderr);
  return stdout.trim();
}

async function stopServer(server: Running): Promise<void> {
  server.kill("SIGTERM");
  await server.finished;
}
