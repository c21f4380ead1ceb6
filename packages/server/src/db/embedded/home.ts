import { createHash, randomBytes } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { chmod, link, mkdir, readFile, realpath, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { tryFileLock } from "@emend/base/locks.ts";
import { canEnter, cannotStart, chownTo, findRunUser, type RunUser } from "./run-tool.ts";

/**
 * Only the owner can access the data folder. If root runs Emend, Postgres runs as another user, who must be able to
 * traverse the folder but not list it. Secret files in it have their own modes.
 */
export async function ensureDataDir(dataDir: string): Promise<void> {
  await mkdir(dataDir, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 });
}

/** The folder of one embedded Postgres: `cluster`, `run` (the socket), `password`, `lock`, `log`. */
export interface Home {
  dir: string;
  /** The user that owns the folder and runs Postgres. */
  user: RunUser;
  /** The folder for a private copy of the binaries. */
  copiesDir: string;
}

/** Where root keeps what a system user must be able to reach. */
const defaultSystemDir = "/var/lib/emend";

/**
 * The home of a data folder: inside it, unless root runs Emend and the system user that runs Postgres cannot enter it.
 * Then it is in the system folder, and a pointer file in the data folder names it, so that moving the data folder does
 * not lose it.
 */
export async function ensureHome(options: { dataDir: string; systemDir?: string }): Promise<Home> {
  const isRoot = process.getuid?.() === 0;
  await ensureDataDir(options.dataDir);
  const dataDir = await realpath(options.dataDir);
  const systemDir = options.systemDir ?? defaultSystemDir;
  const dir = await findHomeDir(dataDir, systemDir);
  const user = findRunUser(dir);
  // Repeated: the process may have been killed between creating the folder and changing its owner.
  await chownTo(user, dir);
  await assertUsable(dir, user);
  return { dir, user, copiesDir: isRoot ? await ensureCopiesDir(systemDir, dataDir, user) : dataDir };
}

/** Whether a database exists for this data folder. Creates nothing. */
export function hasDatabaseFolder(dataDir: string): boolean {
  const { insideDir, pointerFile } = placesIn(dataDir);
  return existsSync(insideDir) || existsSync(pointerFile);
}

/** Where this data folder's database is, if not inside it. Creates nothing. */
export function outsideHome(dataDir: string): string | null {
  const { pointerFile } = placesIn(dataDir);
  return existsSync(pointerFile) ? readFileSync(pointerFile, "utf8").trim() : null;
}

function placesIn(dataDir: string) {
  return { insideDir: join(dataDir, "postgres"), pointerFile: join(dataDir, "postgres.path") };
}

async function findHomeDir(dataDir: string, systemDir: string): Promise<string> {
  const { insideDir, pointerFile } = placesIn(dataDir);
  if (existsSync(pointerFile)) return followPointer(pointerFile);
  if (existsSync(insideDir)) return insideDir;
  const user = findRunUser();
  if (canEnter(user, dataDir)) {
    await makeHomeDir(insideDir, user);
    return insideDir;
  }
  await makeSystemDir(systemDir);
  // Not only the path's hash: a data folder that was deleted and created again must start with an empty database.
  const name = createHash("sha256").update(dataDir).digest("hex").slice(0, 16);
  const outsideDir = join(systemDir, `${name}-${randomBytes(4).toString("hex")}`);
  await makeHomeDir(outsideDir, user);
  await writePointer(pointerFile, outsideDir);
  const chosenDir = await followPointer(pointerFile);
  if (chosenDir !== outsideDir) await rm(outsideDir, { recursive: true });
  return chosenDir;
}

async function followPointer(pointerFile: string): Promise<string> {
  const dir = (await readFile(pointerFile, "utf8")).trim();
  if (existsSync(dir)) return dir;
  // A silent new start would look as if all jobs were lost.
  throw cannotStart(`${pointerFile} says that its files are in ${dir}, which is not there`, {
    advice: `Restore that folder, or remove ${pointerFile} to begin with an empty database.`,
  });
}

async function makeHomeDir(dir: string, user: RunUser): Promise<void> {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  await chownTo(user, dir);
}

/** Linked into place, so that one of two processes decides, and nobody reads half a path. */
async function writePointer(file: string, dir: string): Promise<void> {
  const temporary = `${file}.${randomBytes(6).toString("hex")}`;
  await writeFile(temporary, `${dir}\n`, { mode: 0o600, flush: true });
  await link(temporary, file).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  await rm(temporary);
}

async function makeSystemDir(dir: string): Promise<void> {
  if (existsSync(dir)) return;
  await mkdir(dir, { recursive: true }).catch((cause) => {
    throw cannotStart(`Postgres cannot run as root, and ${dir} cannot be made for its files`, { cause });
  });
  await chmod(dir, 0o755);
}

async function ensureCopiesDir(systemDir: string, dataDir: string, user: RunUser): Promise<string> {
  try {
    await makeSystemDir(systemDir);
    return systemDir;
  } catch (error) {
    // A read-only root file system with a volume for data.
    if (canEnter(user, dataDir)) return dataDir;
    throw error;
  }
}

async function assertUsable(dir: string, user: RunUser): Promise<void> {
  const { uid } = await stat(dir);
  if (uid !== user.uid) {
    throw cannotStart(`${dir} belongs to user ${uid}, and this is user ${user.uid}`, {
      advice: "Run Emend as that user, or with another data folder.",
    });
  }
  if (canEnter(user, dir)) return;
  throw cannotStart(`${user.name} cannot enter ${dir}`, {
    advice: "Let others pass through the folders above it (chmod o+x), or set EMEND_DATABASE_URL.",
  });
}

/** Why a process holds a home: while it serves, for one command, or until it has stopped. */
export type HolderRole = "server" | "command" | "stopping";

export interface Holder {
  pid: number;
  role: HolderRole;
}

export interface HeldLock {
  kind: "held";
  /** Tells others to wait for the lock instead of using a database that is about to stop. */
  announceStop(): void;
  release(): void;
}

export type LockResult = HeldLock | { kind: "taken"; holder: Holder | undefined };

/** Locks the home for this process, or returns the holder. */
export async function tryLock(home: Home, role: HolderRole): Promise<LockResult> {
  const file = join(home.dir, "lock");
  const holderFile = join(home.dir, "holder.json");
  const held = lockFile(file);
  if (!held) return { kind: "taken", holder: readHolder(holderFile) };
  writeHolder(holderFile, { pid: process.pid, role });
  await chownTo(home.user, file);
  let isHeld = true;
  return {
    kind: "held",
    announceStop: () => writeHolder(holderFile, { pid: process.pid, role: "stopping" }),
    release() {
      if (!isHeld) return;
      isHeld = false;
      rmSync(holderFile, { force: true });
      held.release();
    },
  };
}

function lockFile(file: string): ReturnType<typeof tryFileLock> {
  try {
    return tryFileLock(file);
  } catch (cause) {
    throw cannotStart(`${file} cannot be locked`, { cause });
  }
}

function writeHolder(file: string, holder: Holder): void {
  writeFileSync(`${file}.new`, JSON.stringify(holder), { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function readHolder(file: string): Holder | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    // It was taken or released this very moment.
    return undefined;
  }
}
