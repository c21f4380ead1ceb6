import { spawn } from "node:child_process";
import { close, open } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { AppError } from "../../errors.ts";
import type { Logger } from "../../lib/logger.ts";
import { startBound } from "../git/bound-process.ts";
import type { Git } from "../git/git.ts";

export interface MirrorLimits {
  /** What all mirrors of this node may take together before unused ones go. */
  mirrorsBytesMax: number;
  /** A pack that grows past this ends its fetch. */
  packBytesMax: number;
  /** A file past this is neither read nor searched. */
  fileBytesMax: number;
  filesMax: number;
  fetchMsMax: number;
  searchMsMax: number;
  /** What is kept of files that were read, all mirrors together. */
  cacheBytesMax: number;
  /** How many files the lists that are kept may have together; each takes about 250 bytes. */
  listedFilesMax: number;
  /** Past these a mirror is collected. */
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
    /** Something could not be read: look before the next fetch. */
    suspect: boolean;
  };
  /** Null where the mirror has no such object. */
  readObject(id: string): Promise<Buffer | null>;
  /** Says that objects may have moved to other files. */
  forgetReader(): void;
}

const lockWaitMsMax = 20 * 60_000;

/** One at a time among all processes; taken before the store's lock where both are. */
export function alone<T>(
  context: MirrorContext,
  signal: AbortSignal,
  work: (descriptor: number) => Promise<T>,
): Promise<T> {
  return locked(context.place.fetchLock, "exclusive", signal, work);
}

/** shared: for writing refs and objects. exclusive: for taking objects away. */
export function withStore<T>(
  context: MirrorContext,
  mode: "shared" | "exclusive",
  signal: AbortSignal,
  work: (descriptor: number) => Promise<T>,
): Promise<T> {
  return locked(context.place.storeLock, mode, signal, work);
}

async function locked<T>(
  path: string,
  mode: "shared" | "exclusive",
  signal: AbortSignal,
  work: (descriptor: number) => Promise<T>,
): Promise<T> {
  const lock = await lockFile(path, { mode, waitMsMax: lockWaitMsMax }, signal);
  try {
    return await work(lock.descriptor);
  } finally {
    await lock.release();
  }
}

/** Where a mirror and its locks lie. */
export interface MirrorPlace {
  gitDir: string;
  /** Exclusive: one fetch at a time. */
  fetchLock: string;
  /** Shared by who writes refs or objects, exclusive for who collects, repairs or removes; taken after `fetchLock`. */
  storeLock: string;
}

/** Ids become file and ref names; ours are made of nothing else. */
const plainId = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/;
const suffix = ".git";

export function mirrorPlace(dir: string, projectId: string): MirrorPlace {
  checkId(projectId);
  const stem = join(dir, projectId);
  return { gitDir: `${stem}${suffix}`, fetchLock: `${stem}.fetch.lock`, storeLock: `${stem}.store.lock` };
}

/** The project of a file in the mirrors' folder; null where it is no mirror. */
export function projectOfMirror(fileName: string): string | null {
  const id = fileName.endsWith(suffix) ? fileName.slice(0, -suffix.length) : "";
  return plainId.test(id) ? id : null;
}

export function checkId(id: string): void {
  if (plainId.test(id)) return;
  throw new AppError("internal", { publicMessage: "An id contains characters that are not allowed in a file name." });
}

const openFile = promisify(open);
const closeFile = promisify(close);

interface FileLock {
  /** Hand it to a child, and the lock is held until that child is gone too. */
  readonly descriptor: number;
  release(): Promise<void>;
}

/**
 * A kernel lock on a file: among all processes of this machine, gone the moment its holder dies. Node has no call
 * for it, but such a lock belongs to the open file, not to the process that asked: a small program locks the file
 * that we opened, and exits.
 */
export async function lockFile(
  path: string,
  options: { mode: "shared" | "exclusive"; waitMsMax: number },
  signal: AbortSignal,
): Promise<FileLock> {
  const descriptor = await openFile(path, "a", 0o600);
  try {
    signal.throwIfAborted();
    if (await takeAtOnce(options.mode, descriptor)) return { descriptor, release: () => closeFile(descriptor) };
    const timeout = AbortSignal.timeout(options.waitMsMax);
    const code =
      (await askFor(flockProgram(options.mode), descriptor, signal, timeout)) ??
      (await askFor(perlProgram(options.mode), descriptor, signal, timeout));
    if (code === 0) return { descriptor, release: () => closeFile(descriptor) };
    signal.throwIfAborted();
    throw timeout.aborted
      ? new AppError("repository_unavailable", {
          publicMessage: "The mirror stayed busy for too long.",
          retryable: true,
        })
      : new AppError("internal", { publicMessage: "Emend cannot lock files. Install flock (util-linux) or perl." });
  } catch (error) {
    await closeFile(descriptor);
    throw error;
  }
}

/** Most locks are free. A program that does not wait needs nobody to end it, and so a third of the processes. */
async function takeAtOnce(mode: "shared" | "exclusive", descriptor: number): Promise<boolean> {
  const [program = "", ...args] = flockProgram(mode);
  const stdio = ["ignore", "ignore", "ignore", "ignore", descriptor] as const;
  const locker = spawn(program, ["-n", ...args], { stdio: [...stdio], env: { PATH: process.env.PATH ?? "" } });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  locker.once("error", () => resolve(false));
  locker.once("exit", (code) => resolve(code === 0));
  return promise;
}

/** The child sees the file as 4. */
function flockProgram(mode: "shared" | "exclusive"): string[] {
  return ["flock", mode === "shared" ? "-s" : "-x", "4"];
}

/** Where flock is missing (macOS), perl is there. */
function perlProgram(mode: "shared" | "exclusive"): string[] {
  return ["perl", "-e", `open(F, ">>&=", 4) && flock(F, ${mode === "shared" ? 1 : 2}) or exit 1`];
}

/** Its exit code; null where there is no such program. */
async function askFor(
  [program = "", ...args]: string[],
  descriptor: number,
  ...signals: AbortSignal[]
): Promise<number | null> {
  const stop = AbortSignal.any(signals);
  if (stop.aborted) return 1;
  const locker = startBound({ program, args, env: { PATH: process.env.PATH ?? "" }, descriptors: [descriptor] });
  locker.stdout.resume();
  locker.stderr.resume();
  stop.addEventListener("abort", locker.stop, { once: true });
  try {
    const { code } = await locker.ended;
    return code === 127 ? null : (code ?? 1);
  } finally {
    stop.removeEventListener("abort", locker.stop);
  }
}
