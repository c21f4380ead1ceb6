import { readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { ensureMirror, mirrorFormat, removeMirror } from "./ensure-mirror.ts";
import { alone, type MirrorContext, withStore } from "./mirror-context.ts";
import { isObjectId, type ObjectFormat } from "./object-id.ts";
import { baseFolder } from "./pin-names.ts";
import { type Ref, readRefs } from "./refs.ts";

export type Repair =
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
    log.warn({ gitDir: place.gitDir, pins: lost.length }, "mirror is broken, making it anew");
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
    context.log.warn({ gitDir: context.place.gitDir, cleared }, "removed what killed git processes had left behind");
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
    context.log.warn({ err: error, gitDir: context.place.gitDir }, "mirror cannot be written");
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
