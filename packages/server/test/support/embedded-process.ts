import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("serve-embedded.ts", import.meta.url));

export interface EmbeddedProcess {
  child: ChildProcess;
  pid: number;
  /** What it said first: the address of its database, or why it has none. */
  said: { url: string; error?: undefined } | { error: string; url?: undefined };
  /** Settles when it is gone. */
  exited: Promise<number | null>;
}

/** Starts a process that holds the embedded Postgres of a data folder, as another user if told. */
export async function startEmbeddedProcess(
  args: { dataDir: string; systemDir: string },
  as: { script?: string; node?: string; uid?: number; gid?: number } = {},
): Promise<EmbeddedProcess> {
  const ids = as.uid === undefined ? {} : { uid: as.uid, gid: as.gid ?? as.uid };
  const child = spawn(as.node ?? process.execPath, [as.script ?? script, args.dataDir, args.systemDir], {
    ...ids,
    cwd: "/",
    stdio: ["pipe", "pipe", "inherit"],
    // A group of its own, so that all that belongs to it can be killed at once.
    detached: true,
  });
  const exited = once(child, "exit").then(([code]) => code as number | null);
  const [line] = await Promise.race([
    once(createInterface(child.stdout), "line"),
    // Closed, not ended: what it said may still be on its way.
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

/** A zombie has ended: it only waits for its parent to ask how. */
export function isRunning(pid: number): boolean {
  const { stdout } = spawnSync("ps", ["-o", "stat=", "-p", String(pid)], { encoding: "utf8" });
  return stdout.trim() !== "" && !stdout.includes("Z");
}
