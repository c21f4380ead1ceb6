import { readdirSync, readFileSync } from "node:fs";
import { cpus } from "node:os";
import type { Pool } from "../../server/src/db/pool.ts";

const ticksPerSecond = 100;

interface Stat {
  parent: number;
  /** Of the process itself, and of its children that ended. */
  ms: number;
}

function statOf(pid: number): Stat | null {
  try {
    // The name, in parentheses, may hold spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1)?.split(" ") ?? [];
    const ticks = [11, 12, 13, 14].reduce((sum, at) => sum + Number(fields[at]), 0);
    return { parent: Number(fields[1]), ms: (ticks * 1000) / ticksPerSecond };
  } catch {
    return null;
  }
}

/** Of a process and all below it. */
function sumOverTree(root: number, of: (pid: number) => number): number {
  const all = readdirSync("/proc").flatMap((name) => {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : null;
    return stat ? [{ pid: Number(name), parent: stat.parent }] : [];
  });
  const below = (parent: number): number =>
    all.filter((one) => one.parent === parent).reduce((sum, { pid }) => sum + of(pid) + below(pid), 0);
  return of(root) + below(root);
}

type Of = "with all below it" | "alone";

/** Processor time of a process, and of its children that ended, since it started. Linux only. */
export function processorMs(pid: number, of: Of = "with all below it"): number {
  const own = (one: number) => statOf(one)?.ms ?? 0;
  return of === "alone" ? own(pid) : sumOverTree(pid, own);
}

/** Resident memory of a process. Linux only. */
export function memoryMb(pid: number, of: Of = "with all below it"): number {
  const own = (one: number) => {
    try {
      return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${one}/status`, "utf8"))?.[1] ?? 0) / 1024;
    } catch {
      return 0;
    }
  };
  return of === "alone" ? own(pid) : sumOverTree(pid, own);
}

/** The parent of a connection's process is Postgres itself. */
export async function postgresPid(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ pid: number }>("select pg_backend_pid() as pid");
  return statOf(rows[0]?.pid ?? 0)?.parent ?? 0;
}

/** All processors' busy time since the machine started. */
export function machineBusyMs(): number {
  return cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0);
}
