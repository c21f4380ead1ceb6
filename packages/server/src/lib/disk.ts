import { randomUUID } from "node:crypto";
import { mkdir, rm, statfs, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** The file systems that this process writes to. */
export interface Disk {
  /** Why no new work may start; null: there is room. Cheap, and at most a second old. */
  problem(): Promise<string | null>;
  /**
   * For a failure of any kind: whether this machine can write at all. It asks the file system instead of reading error
   * messages, which differ by program and language.
   */
  examine(): Promise<string | null>;
  /** The least of all folders. */
  freeBytes(): Promise<number>;
}

const freshMs = 1_000;
/** A write that failed once is tried again this often, until it succeeds. */
const examineEveryMs = 2_000;
/** A quota or a read-only mount is not in the figures of a file system: only a write shows it. */
const probeBytes = 2 ** 20;

export function createDisk(options: { dirs: readonly string[]; reserveBytes: number }): Disk {
  let known: { at: number; problem: Promise<string | null> } | undefined;
  let examined: { at: number; problem: string | null } = { at: 0, problem: null };

  async function freeBytes(): Promise<number> {
    return Math.min(...(await Promise.all(options.dirs.map(freeBytesOf))));
  }

  async function findShortage(): Promise<string | null> {
    for (const dir of options.dirs) {
      const problem = await ensureFolder(dir).then(() => null, whyOf(dir));
      if (problem !== null) return problem;
    }
    const free = await freeBytes();
    if (free >= options.reserveBytes) return null;
    return `The disk of this machine is almost full: ${mebibytes(free)} MiB are free, and Emend reserves ${mebibytes(options.reserveBytes)} MiB (EMEND_DISK_RESERVE_MB).`;
  }

  async function examine(): Promise<string | null> {
    const problem = (await findShortage()) ?? (await whyNotWritable(options.dirs));
    examined = { at: performance.now(), problem };
    known = undefined;
    return problem;
  }

  async function look(): Promise<string | null> {
    if (examined.problem === null) return findShortage();
    return performance.now() - examined.at < examineEveryMs ? examined.problem : examine();
  }

  return {
    examine,
    freeBytes,
    problem() {
      if (!known || performance.now() - known.at > freshMs) known = { at: performance.now(), problem: look() };
      return known.problem;
    },
  };
}

/** Not Node's `recursive`: it never ends in a folder that cannot have others, such as /proc. */
async function ensureFolder(dir: string): Promise<void> {
  const make = () =>
    mkdir(dir).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== "EEXIST") throw error;
    });
  await make().catch(async (error: NodeJS.ErrnoException) => {
    if (error.code !== "ENOENT" || dirname(dir) === dir) throw error;
    await ensureFolder(dirname(dir));
    await make();
  });
}

/** A folder that cannot be asked has no room. */
async function freeBytesOf(dir: string): Promise<number> {
  return statfs(dir).then(
    ({ bavail, bsize, files, ffree }) => (files > 0 && ffree === 0 ? 0 : bavail * bsize),
    () => 0,
  );
}

async function whyNotWritable(dirs: readonly string[]): Promise<string | null> {
  for (const dir of dirs) {
    const problem = await tryFolder(dir);
    if (problem !== null) return problem;
  }
  return null;
}

/** Writes a file and removes it. */
export async function tryFolder(dir: string): Promise<string | null> {
  const file = join(dir, `.probe-${randomUUID()}`);
  try {
    return await writeFile(file, Buffer.alloc(probeBytes, 1), { flush: true }).then(() => null, whyOf(dir));
  } finally {
    await rm(file, { force: true }).catch(() => {});
  }
}

function whyOf(dir: string) {
  return ({ code }: NodeJS.ErrnoException): string =>
    code === "ENOSPC" || code === "EDQUOT"
      ? `The disk of this machine is full (${code}).`
      : `${dir} cannot be written (${code}).`;
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 2 ** 20);
}
