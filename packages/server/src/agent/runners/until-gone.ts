import { readdir, readFile, readlink } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

const lookEveryMs = 10;
const usualWaitMsMax = 10_000;

/**
 * Resolves once no process of a sandbox is left. bubblewrap ends with the program that it was given; what that program
 * started is killed by the kernel a moment later, and until then it could still write to what is about to be read.
 */
export async function untilGone(statusFile: string, waitMsMax = usualWaitMsMax): Promise<void> {
  const [, namespace] = /"pid-namespace":\s*(\d+)/.exec(await readFile(statusFile, "utf8")) ?? [];
  // It never came so far as to start anything.
  if (namespace === undefined) return;
  const deadline = performance.now() + waitMsMax;
  while (await isInhabited(`pid:[${namespace}]`)) {
    if (performance.now() > deadline) throw new Error("processes of a sandbox outlived it");
    await setTimeout(lookEveryMs);
  }
}

async function isInhabited(namespace: string): Promise<boolean> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const living = await Promise.all(
    pids.map(async (pid) => {
      const found = await readlink(`/proc/${pid}/ns/pid`).catch(() => "");
      return found === namespace && (await isLiving(pid));
    }),
  );
  return living.includes(true);
}

/** What is dead and only waits for its parent to notice does nothing any more. */
async function isLiving(pid: string): Promise<boolean> {
  const line = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return line !== "" && !/^[ZX]/.test(line.slice(line.lastIndexOf(")") + 2));
}
