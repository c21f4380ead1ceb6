import { randomBytes } from "node:crypto";
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Git } from "../git/git.ts";
import { isObjectId, type ObjectFormat } from "../git/object-id.ts";
import { alone, type MirrorContext, withStore } from "./mirror-context.ts";
import { baseFolder } from "./pin-names.ts";

type Repair =
  /** Nothing was wrong here. */
  | { kind: "sound" }
  /** Locks that killed processes had left behind are gone. */
  | { kind: "cleared" }
  /** Made anew; these bases were pinned and must be fetched again. */
  | { kind: "renewed"; lost: readonly Ref[] };

const fsckMsMax = 10 * 60_000;

/** Looks whether the mirror is whole and, where it is not, starts it anew. Call it with the fetch lock held. */
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

/** Carries out a write, and once more where a killed process had left a lock in its way. */
export async function writeOrClear<T>(
  context: MirrorContext,
  signal: AbortSignal,
  write: () => Promise<T>,
): Promise<T> {
  try {
    return await write();
  } catch (error) {
    signal.throwIfAborted();
    const cleared = await alone(context, signal, () =>
      withStore(context, "exclusive", signal, () => clearLeftovers(context.place.gitDir)),
    );
    if (cleared === 0) throw error;
    context.log.warn({ gitDir: context.place.gitDir, cleared }, "removed leftovers of killed git processes");
    return write();
  }
}

/** Pins what is here already; where the mirror cannot even do that, it is looked at before the next fetch. */
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
 * Removes git's own lock files. Whoever may write holds one of our locks until its last git process is gone, so with
 * both held whatever lies here has no owner.
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

/** Makes the mirror where there is none, whole or not at all. Call it with the fetch lock held. */
export async function ensureMirror(git: Git, gitDir: string, format: ObjectFormat, signal: AbortSignal): Promise<void> {
  if (await mirrorExists(gitDir)) return;
  const fresh = `${gitDir}.new-${randomBytes(6).toString("hex")}`;
  // No template: no hooks, no info. A branch that never comes: attributes are read from HEAD by some gits.
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

/** Read from its configuration, so that a mirror too broken for git has an answer as well. */
async function mirrorFormat(gitDir: string): Promise<ObjectFormat> {
  const config = await readFile(join(gitDir, "config"), "utf8").catch(() => "");
  return /objectformat\s*=\s*sha256/i.test(config) ? "sha256" : "sha1";
}

/** Takes it away in one step, so that nobody sees half a mirror. */
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

/** Refs from the files themselves: no process, and a mirror too broken for git still says which jobs need it. */
export async function readRefs(gitDir: string, folders: readonly string[]): Promise<readonly Ref[]> {
  const refs = new Map<string, Ref>();
  // Loose ones first, and they win: what is packed in the meantime is then seen at least once.
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
 * Sets refs to a commit that another ref of ours holds, as git itself does it: a lock file, moved into place. Without a
 * process, since every job begins with this. Call it with the store's lock held.
 */
export async function setRefs(gitDir: string, names: readonly string[], id: string): Promise<void> {
  for (const name of names) {
    const path = join(gitDir, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.lock`, `${id}\n`, { flag: "wx" });
    await rename(`${path}.lock`, path);
  }
}

/** Sets refs, or deletes those whose id is null, all or none. Call it with the store's lock held. */
export async function writeRefs(
  context: MirrorContext,
  refs: readonly { name: string; id: string | null }[],
  descriptor: number,
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
      descriptors: [descriptor],
    },
    signal,
  );
}
