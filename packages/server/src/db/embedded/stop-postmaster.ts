import { setTimeout } from "node:timers/promises";
import { isAlive } from "./is-alive.ts";
import { readPostmasterFile } from "./postmaster-file.ts";

const stopMsMax = 20_000;
const lookEveryMs = 20;

/** A fast shutdown: sessions end, everything is on disk. One that hangs is cut short, which costs a recovery later. */
export async function stopPostmaster(homeDir: string, pid: number): Promise<void> {
  for (const signal of ["SIGINT", "SIGQUIT"] as const) {
    if (!(await isThere(homeDir, pid))) return;
    signalIfAlive(pid, signal);
    const deadline = performance.now() + stopMsMax;
    while (performance.now() < deadline) {
      if (!(await isThere(homeDir, pid))) return;
      await setTimeout(lookEveryMs);
    }
  }
}

function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** By its lock file too: the number alone may belong to another process, or to a zombie that nobody waits for. */
async function isThere(homeDir: string, pid: number): Promise<boolean> {
  return (await readPostmasterFile(homeDir))?.pid === pid && isAlive(pid);
}
