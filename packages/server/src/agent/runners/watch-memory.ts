import { readdir, readFile } from "node:fs/promises";

const lookEveryMs = 300;
const processesMax = 1_000;
const pageBytes = 4_096;

interface Process {
  parent: number;
  group: number;
  bytes: number;
}

/**
 * Adds up, every little while, what a process, its descendants and its group hold in memory. A limit of the kernel's
 * would count what runtimes only reserve, and those of today reserve more than any machine has.
 */
export function watchMemory(pid: number | undefined, bytesMax: number, onOver: (words: string) => void): () => void {
  if (pid === undefined || process.platform !== "linux") return () => {};
  let isOver = false;
  let isLooking = false;
  const look = async () => {
    if (isLooking || isOver) return;
    isLooking = true;
    const { bytes, processes } = await sumOf(pid);
    isLooking = false;
    if (isOver || (bytes <= bytesMax && processes <= processesMax)) return;
    isOver = true;
    const words = bytes > bytesMax ? `${Math.ceil(bytes / 2 ** 20)} MiB of memory` : `${processes} processes`;
    onOver(words);
  };
  const timer = setInterval(() => void look(), lookEveryMs);
  timer.unref();
  return () => {
    isOver = true;
    clearInterval(timer);
  };
}

async function sumOf(root: number): Promise<{ bytes: number; processes: number }> {
  const all = await readProcesses();
  const counted = new Set([root]);
  // Children may be listed before their parents: go on until nothing is added.
  for (let before = -1; before !== counted.size; ) {
    before = counted.size;
    for (const [pid, { parent, group }] of all) if (counted.has(parent) || group === root) counted.add(pid);
  }
  let bytes = 0;
  for (const pid of counted) bytes += all.get(pid)?.bytes ?? 0;
  return { bytes, processes: counted.size };
}

async function readProcesses(): Promise<ReadonlyMap<number, Process>> {
  const names = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  const found = new Map<number, Process>();
  for (const name of names) {
    const line = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "");
    // The second field is the program's name, in parentheses, and may hold anything.
    const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
    if (fields.length < 22) continue;
    found.set(Number(name), {
      parent: Number(fields[1]),
      group: Number(fields[2]),
      bytes: Number(fields[21]) * pageBytes,
    });
  }
  return found;
}
