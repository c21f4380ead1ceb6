import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Git } from "../git/git.ts";
import { isObjectId, type ObjectFormat } from "../tree.ts";
import { baseFolder, type MirrorContext, withMirrorLock, withStore } from "./mirror-context.ts";

type Repair =
  /** Nothing was wrong here. */
  | { kind: "sound" }
  /** Stale locks of killed processes were removed. */
  | { kind: "cleared" }
  /** Recreated. These bases were pinned and must be fetched again. */
  | { kind: "renewed"; lost: readonly Ref[] };

const fsckMsMax = 10 * 60_000;

/** Verifies the mirror and recreates it if it is broken. Call it with the fetch lock held. */
export function repairMirror(context: MirrorContext, format: ObjectFormat, signal: AbortSignal): Promise<Repair> {
  const { git, place, log } = context;
  return withStore(context, "exclusive", signal, async () => {
    const cleared = await clearLeftovers(place.gitDir);
    if ((await mirrorFormat(place.gitDir)) === format && (await isWhole(context, signal))) {
      context.health.suspect = false;
      return cleared > 0 ? { kind: "cleared" } : { kind: "sound" };
    }
    const lost = (await readRefs(place.gitDir, [baseFolder])).filter((ref) => isObjectId(ref.id));
    log.warn({ gitDir: place.gitDir, pins: lost.length }, "mirror is damaged; creating it again");
    await removeMirror(place.gitDir);
    await ensureMirror(git, place.gitDir, format, signal);
    context.health.suspect = false;
    context.forgetReader();
    return { kind: "renewed", lost };
  });
}

async function isWhole(context: MirrorContext, signal: AbortSignal): Promise<boolean> {
  const args = ["fsck", "--no-dangling", "--no-progress"];
  const { gitDir } = context.place;
  const result = await context.git.run({ gitDir, args, timeMsMax: fsckMsMax, outputBytesMax: 1024 * 1024 }, signal);
  return result.code === 0 && !result.cut;
}

/** Runs a write, and retries once after removing a killed process's lock. */
export async function writeOrClear<T>(
  context: MirrorContext,
  signal: AbortSignal,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    signal.throwIfAborted();
    const cleared = await withMirrorLock(context, signal, () =>
      withStore(context, "exclusive", signal, () => clearLeftovers(context.place.gitDir)),
    );
    if (cleared === 0) throw error;
    context.log.warn({ gitDir: context.place.gitDir, cleared }, "removed leftovers of killed git processes");
    return write();
  }
}

/** Pins a present commit. If that fails, the mirror is verified before the next fetch. */
export async function pinOrDoubt(
  context: MirrorContext,
  pinHere: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<boolean> {
  if (context.health.suspect) return false;
  try {
    return await writeOrClear(context, signal, pinHere);
  } catch (error) {
    signal.throwIfAborted();
    context.log.warn({ err: error, gitDir: context.place.gitDir }, "cannot write to a mirror");
    context.health.suspect = true;
    return false;
  }
}

/**
 * Removes git's lock files. Every writer holds one of our locks until its last git process exits. So with both locks
 * held, no lock file here has an owner.
 */
export async function clearLeftovers(gitDir: string): Promise<number> {
  const files = await readdir(gitDir, { recursive: true, withFileTypes: true }).catch(() => []);
  const left = files.filter((file) => file.isFile() && isLeftover(file.name));
  for (const file of left) await rm(join(file.parentPath, file.name), { force: true });
  return left.length;
}

function isLeftover(name: string): boolean {
  return (
    name.endsWith(".lock") || name === "gc.pid" || name.startsWith("tmp_") || name.startsWith("fast_import_crash_")
  );
}

/** Creates the mirror if it does not exist, completely or not at all. Call it with the fetch lock held. */
export async function ensureMirror(git: Git, gitDir: string, format: ObjectFormat, signal: AbortSignal): Promise<void> {
  if (await mirrorExists(gitDir)) return;
  const fresh = `${gitDir}.new-${randomBytes(6).toString("hex")}`;
  // No template: no hooks, no info. HEAD names a branch that never exists, because some git versions read attributes
  // from HEAD.
  const args = ["init", "--bare", "--quiet", "--template=", `--object-format=${format}`, "--initial-branch=emend/none"];
  try {
    await git.must({ gitDir: fresh, args, timeMsMax: 30_000, outputBytesMax: 10_000 }, signal);
    await rename(fresh, gitDir);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw error;
  }
}

export async function mirrorExists(gitDir: string): Promise<boolean> {
  return stat(gitDir).then(
    () => true,
    () => false,
  );
}

/** Read from the configuration file, so that it works for a mirror that git cannot open. */
async function mirrorFormat(gitDir: string): Promise<ObjectFormat> {
  const config = await readFile(join(gitDir, "config"), "utf8").catch(() => "");
  return /objectformat\s*=\s*sha256/i.test(config) ? "sha256" : "sha1";
}

/** Renames it first, so that nobody sees half a mirror. */
export async function removeMirror(gitDir: string): Promise<void> {
  const gone = `${gitDir}.gone-${randomBytes(6).toString("hex")}`;
  await rename(gitDir, gone);
  await rm(gone, { recursive: true, force: true });
}

export interface Ref {
  name: string;
  id: string;
}

const timeMsMax = 60_000;

/** Reads refs from files: no process, and it works for a mirror that git cannot open. */
export async function readRefs(gitDir: string, folders: readonly string[]): Promise<readonly Ref[]> {
  const refs = new Map<string, Ref>();
  // Loose refs first, and they win: a ref that is packed meanwhile is seen at least once.
  for (const folder of folders) {
    for (const file of await readdir(join(gitDir, folder)).catch(() => [])) {
      const id = file.endsWith(".lock") ? null : await readFile(join(gitDir, folder, file), "utf8").catch(() => null);
      if (id !== null) refs.set(folder + file, { name: folder + file, id: id.trim() });
    }
  }
  const packed = await readFile(join(gitDir, "packed-refs"), "utf8").catch(() => "");
  for (const line of packed.split("\n")) {
    const name = line.slice(line.indexOf(" ") + 1);
    const wanted = folders.some((folder) => name.startsWith(folder)) && !refs.has(name);
    if (wanted) refs.set(name, { name, id: line.slice(0, line.indexOf(" ")) });
  }
  return [...refs.values()];
}

/**
 * Sets refs to a commit that another ref of ours points at, as git does: with a lock file and a rename. Without a
 * process, because every job starts with this. Call it with the store lock held.
 */
export async function setRefs(gitDir: string, names: readonly string[], id: string): Promise<void> {
  for (const name of names) {
    const path = join(gitDir, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.lock`, `${id}\n`, { flag: "wx" });
    await rename(`${path}.lock`, path);
  }
}

/** Sets refs, or deletes those with a null id, all or none. Call it with the store lock held. */
export async function writeRefs(
  context: MirrorContext,
  refs: readonly { name: string; id: string | null }[],
  lockId: number,
  signal: AbortSignal,
): Promise<void> {
  const input = refs.map(({ name, id }) => (id === null ? `delete ${name}\n` : `update ${name} ${id}\n`));
  await context.git.must(
    {
      gitDir: context.place.gitDir,
      args: ["update-ref", "--stdin"],
      input,
      timeMsMax,
      outputBytesMax: 10_000,
      locks: [lockId],
    },
    signal,
  );
}
