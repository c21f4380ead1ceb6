import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("./serve-embedded.ts", import.meta.url));

export interface EmbeddedProcess {
  child: ChildProcess;
  pid: number;
  /** Its first output: the database's address, or the error. */
  said: { url: string; error?: undefined } | { error: string; url?: undefined };
  /** Resolves when the process has exited. */
  exited: Promise<number | null>;
}

/** Starts a process that runs the embedded Postgres of a data folder, optionally as another user. */
export async function startEmbeddedProcess(
  args: { dataDir: string; systemDir: string },
  as: { script?: string; node?: string; uid?: number; gid?: number } = {},
): Promise<EmbeddedProcess> {
  const ids = as.uid === undefined ? {} : { uid: as.uid, gid: as.gid ?? as.uid };
  const child = spawn(as.node ?? process.execPath, [as.script ?? script, args.dataDir, args.systemDir], {
    ...ids,
    cwd: "/",
    stdio: ["pipe", "pipe", "inherit"],
    // Its own process group, so that a test can kill all its processes at once.
    detached: true,
  });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const [line] = await Promise.race([
    once(createInterface(child.stdout), "line"),
    // `close`, not `exit`: after an exit, output may still arrive.
    once(child, "close").then(([code]) => Promise.reject(new Error(`it ended with ${code} and said nothing`))),
  ]);
  return { child, pid: child.pid ?? 0, said: JSON.parse(line), exited };
}

export function readPostmasterPid(homeDir: string): number {
  return Number(readFileSync(join(homeDir, "cluster", "postmaster.pid"), "utf8").split("\n")[0]);
}

export function childrenOf(parent: number): number[] {
  const { stdout } = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" });
  const rows = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number));
  return rows.flatMap(([pid, ppid]) => (ppid === parent && pid ? [pid] : []));
}

/** A zombie has exited: it only waits for its parent to reap it. */
export function isRunning(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.includes("Z");
}
