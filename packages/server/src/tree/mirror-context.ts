import type { Logger } from "../lib/logger.ts";
import { lockFile } from "./file-lock.ts";
import type { Git } from "./git.ts";
import type { MirrorPlace } from "./mirror-place.ts";

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
