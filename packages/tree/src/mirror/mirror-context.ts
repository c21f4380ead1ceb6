import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { Logger } from "@emend/base/logger.ts";
import { TreeFault } from "../faults.ts";
import { openLock, startBound } from "../git/bound-process.ts";
import type { Git } from "../git/git.ts";

export interface MirrorLimits {
  /** The maximum size of all mirrors on this node. Above it, unused ones are evicted. */
  mirrorsBytesMax: number;
  /** A fetch stops if its pack grows beyond this. */
  packBytesMax: number;
  /** Larger files are neither read nor searched. */
  fileBytesMax: number;
  filesMax: number;
  fetchMsMax: number;
  searchMsMax: number;
  /** The file cache's size, for all mirrors together. */
  cacheBytesMax: number;
  /** The maximum number of files in all cached lists; each takes about 250 bytes. */
  listedFilesMax: number;
  /** Above these limits a mirror is garbage collected. */
  looseObjectsMax: number;
  packsMax: number;
}

/** What the functions on one mirror share. */
export interface MirrorContext {
  readonly git: Git;
  readonly place: MirrorPlace;
  readonly log: Logger;
  readonly limits: MirrorLimits;
  readonly health: {
    /** Something could not be read: check the mirror before the next fetch. */
    suspect: boolean;
  };
  /** Null if the mirror has no such object. */
  readObject(id: string): Promise<Buffer | null>;
  /** Call when objects may have moved to other files. */
  forgetReader(): void;
}

const lockWaitMsMax = 20 * 60_000;

/** A mutex across processes. If both locks are needed, it is taken before the store's lock. */
export function withMirrorLock<T>(
  context: MirrorContext,
  signal: AbortSignal,
  work: (lockId: number) => Promise<T>,
): Promise<T> {
  return locked(context.place.fetchLock, "exclusive", signal, work);
}

/** shared: to write refs and objects. exclusive: to remove objects. */
export function withStore<T>(
  context: MirrorContext,
  mode: "shared" | "exclusive",
  signal: AbortSignal,
  work: (lockId: number) => Promise<T>,
): Promise<T> {
  return locked(context.place.storeLock, mode, signal, work);
}

async function locked<T>(
  path: string,
  mode: "shared" | "exclusive",
  signal: AbortSignal,
  work: (lockId: number) => Promise<T>,
): Promise<T> {
  const lock = await lockFile(path, { mode, waitMsMax: lockWaitMsMax }, signal);
  try {
    return await work(lock.id);
  } finally {
    lock.release();
  }
}

/** The paths of a mirror and its locks. */
export interface MirrorPlace {
  gitDir: string;
  /** Exclusive: one fetch at a time. */
  fetchLock: string;
  /** Shared to write refs or objects; exclusive to collect, repair or remove. Taken after `fetchLock`. */
  storeLock: string;
}

/** Ids become file and ref names, so only our own format is accepted. */
const plainId = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;
const suffix = ".git";

export function mirrorPlace(dir: string, projectId: string): MirrorPlace {
  checkId(projectId);
  const stem = join(dir, projectId);
  return { gitDir: `${stem}${suffix}`, fetchLock: `${stem}.fetch.lock`, storeLock: `${stem}.store.lock` };
}

/** The project of a file in the mirrors' folder. Null if it is not a mirror. */
export function projectOfMirror(fileName: string): string | null {
  const id = fileName.endsWith(suffix) ? fileName.slice(0, -suffix.length) : "";
  return plainId.test(id) ? id : null;
}

function checkId(id: string): void {
  if (plainId.test(id)) return;
  throw new TreeFault("internal", { publicMessage: "An id contains characters that are not allowed in a file name." });
}

interface FileLock {
  /** Pass it to a child, and the lock is held until that child exits too. */
  readonly id: number;
  release(): void;
}

/**
 * A kernel lock on a file: valid across all processes of this machine, and released when its holder dies. Node has no
 * API for it. But such a lock belongs to the open file, so a small program locks the file that is open, and exits.
 */
export async function lockFile(
  path: string,
  options: { mode: "shared" | "exclusive"; waitMsMax: number },
  signal: AbortSignal,
): Promise<FileLock> {
  const env = { PATH: process.env.PATH ?? "" };
  const { id, isLocked, close } = await openLock(path, lockProgram(options.mode, { waits: false }), env);
  try {
    signal.throwIfAborted();
    if (isLocked) return { id, release: close };
    const timeout = AbortSignal.timeout(options.waitMsMax);
    const code = await askFor(lockProgram(options.mode, { waits: true }), id, signal, timeout);
    if (code === 0) return { id, release: close };
    signal.throwIfAborted();
    throw timeout.aborted
      ? new TreeFault("repository_unavailable", {
          publicMessage: "The mirror stayed busy for too long.",
          retryable: true,
        })
      : new TreeFault("internal", { publicMessage: "Emend cannot lock files. Install flock (util-linux) or perl." });
  } catch (error) {
    close();
    throw error;
  }
}

/**
 * The child gets the file as descriptor 4. macOS has no flock, but it has perl. The folders of PATH say which: to start a
 * program that is not there costs more than the lock.
 */
export function lockProgram(mode: "shared" | "exclusive", { waits }: { waits: boolean }): string[] {
  const folders = (process.env.PATH ?? "").split(delimiter);
  if (folders.some((folder) => existsSync(join(folder, "flock"))))
    return ["flock", ...(waits ? [] : ["-n"]), mode === "shared" ? "-s" : "-x", "4"];
  const operation = (mode === "shared" ? 1 : 2) + (waits ? 0 : 4);
  return ["perl", "-e", `open(F, ">>&=", 4) && flock(F, ${operation}) or exit 1`];
}

/** The exit code. */
async function askFor([program = "", ...args]: string[], lockId: number, ...signals: AbortSignal[]): Promise<number> {
  const stop = AbortSignal.any(signals);
  if (stop.aborted) return 1;
  const locker = startBound({ program, args, env: { PATH: process.env.PATH ?? "" }, locks: [lockId] });
  locker.stdout.resume();
  locker.stderr.resume();
  stop.addEventListener("abort", locker.stop, { once: true });
  try {
    const { code } = await locker.ended;
    return code ?? 1;
  } finally {
    stop.removeEventListener("abort", locker.stop);
  }
}

export const baseFolder = "refs/emend/base/";
export const runFolder = "refs/emend/run/";
export const movedFolder = "refs/emend/moved/";
/** Pins the commit at which a continued job's branch diverged from its base branch. */
export const forkFolder = "refs/emend/fork/";
/** Pins a job's last commit on its branch, for comparison with the current one. */
export const leftFolder = "refs/emend/left/";
export const tipFolder = "refs/emend/tip/";

/** Pins the base that a job reads. */
export function basePin(jobId: string): string {
  checkId(jobId);
  return baseFolder + jobId;
}

/** Pins a job's commit. */
export function runPin(jobId: string): string {
  checkId(jobId);
  return runFolder + jobId;
}

/** Pins the current base branch while it is merged with the job's edits. */
export function movedPin(jobId: string): string {
  checkId(jobId);
  return movedFolder + jobId;
}

export function forkPin(jobId: string): string {
  checkId(jobId);
  return forkFolder + jobId;
}

export function leftPin(jobId: string): string {
  checkId(jobId);
  return leftFolder + jobId;
}

/**
 * A branch's last known commit, so that the next fetch gets only what is new. Not a pin. Hashed, because git cannot
 * have refs `a` and `a/b` at the same time.
 */
export function tipRef(branch: string): string {
  return tipFolder + createHash("sha256").update(branch).digest("hex").slice(0, 32);
}
