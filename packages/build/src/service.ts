// Runs inside the sandbox, and imports nothing of ours. Starts what a project serves.
import { type ChildProcess, spawn } from "node:child_process";
import { connect } from "node:net";

const startMs = 30_000;

export function startService(command: string): ChildProcess {
  return spawn("/bin/sh", ["-c", command], { stdio: "ignore", detached: true });
}

/** With all that it started. */
export function stop(child: ChildProcess): void {
  try {
    process.kill(-(child.pid ?? 0), "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** Whether something listens there. `waits`: it may still be starting. */
export async function answers({ hostname, port }: URL, waits: boolean): Promise<boolean> {
  for (const until = Date.now() + startMs; Date.now() < until; ) {
    const isThere = await new Promise<boolean>((resolve) => {
      const socket = connect({ host: hostname, port: Number(port || 80) });
      socket.on("connect", () => resolve(true)).on("error", () => resolve(false));
      socket.on("connect", () => socket.destroy());
    });
    if (isThere) return true;
    if (!waits) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return false;
}
