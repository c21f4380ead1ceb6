import { readdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  baseFolder,
  basePin,
  forkFolder,
  forkPin,
  leftFolder,
  leftPin,
  type MirrorContext,
  movedFolder,
  movedPin,
  runFolder,
  runPin,
  tipFolder,
  withMirrorLock,
  withStore,
} from "./mirror-context.ts";
import { clearLeftovers, mirrorExists, readRefs, removeMirror, writeOrClear, writeRefs } from "./repair-mirror.ts";

const gcMsMax = 30 * 60_000;
const collectedMark = "emend-collected";
const collectEveryMs = 7 * 24 * 3_600_000;
/** The number of recent base branches whose trees are kept. */
const tipsMax = 8;

/** Runs git's garbage collection on a mirror that needs it. Keeps unreferenced objects for two weeks. */
export function collectMirror(context: MirrorContext, signal: AbortSignal): Promise<boolean> {
  const { git, place } = context;
  return withMirrorLock(context, signal, () =>
    withStore(context, "exclusive", signal, async (lockId) => {
      if (!(await mirrorExists(place.gitDir))) return false;
      await clearLeftovers(place.gitDir);
      if (!(await isUntidy(context, signal))) return false;
      await dropOldTips(context, lockId, signal);
      // Never `--prune=now`: a job of another process may have written objects that no ref points at yet.
      const args = ["gc", "--quiet", "--prune=2.weeks.ago"];
      // Unreferenced objects go into one pack until then, instead of one file each.
      const config = { "gc.cruftPacks": "true" };
      const locks = [lockId];
      await git.must(
        { gitDir: place.gitDir, args, config, timeMsMax: gcMsMax, outputBytesMax: 64 * 1024, locks },
        signal,
      );
      await writeFile(join(place.gitDir, collectedMark), "");
      context.forgetReader();
      return true;
    }),
  );
}

async function dropOldTips(context: MirrorContext, lockId: number, signal: AbortSignal): Promise<void> {
  const args = ["for-each-ref", "--sort=-committerdate", "--format=%(refname)", tipFolder];
  const { gitDir } = context.place;
  const output = await context.git.must({ gitDir, args, timeMsMax: 60_000, outputBytesMax: 2 ** 20 }, signal);
  const old = output.toString().split("\n").filter(Boolean).slice(tipsMax);
  const refs = old.map((name) => ({ name, id: null }));
  if (refs.length > 0) await writeRefs(context, refs, lockId, signal);
}

async function isUntidy(context: MirrorContext, signal: AbortSignal): Promise<boolean> {
  const { gitDir } = context.place;
  const args = ["count-objects", "-v"];
  const output = await context.git.must({ gitDir, args, timeMsMax: 60_000, outputBytesMax: 10_000 }, signal);
  const figure = (name: string) => Number(new RegExp(`^${name}: (\\d+)$`, "m").exec(output.toString())?.[1] ?? 0);
  if (figure("count") > context.limits.looseObjectsMax || figure("packs") > context.limits.packsMax) return true;
  // Packed or not, what jobs left is removed in the end.
  const modifiedMs = (path: string) => stat(path).then(({ mtimeMs }) => mtimeMs);
  const collectedMs = await modifiedMs(join(gitDir, collectedMark)).catch(() => modifiedMs(join(gitDir, "config")));
  const usedMs = await modifiedMs(context.place.storeLock).catch(() => 0);
  return usedMs > collectedMs && Date.now() - collectedMs > collectEveryMs;
}

/** Removes a mirror without pins. */
export function evictMirror(context: MirrorContext, signal: AbortSignal): Promise<boolean> {
  return withMirrorLock(context, signal, () =>
    withStore(context, "exclusive", signal, async () => {
      if (!(await mirrorExists(context.place.gitDir))) return false;
      if ((await pinnedJobs(context)).length > 0) return false;
      await removeMirror(context.place.gitDir);
      context.forgetReader();
      return true;
    }),
  );
}

/** A mirror's size, and the time of its last fetch or pin. */
export async function measureMirror(context: MirrorContext): Promise<{ bytes: number; usedAtMs: number }> {
  const files = await readdir(context.place.gitDir, { recursive: true, withFileTypes: true }).catch(() => []);
  let bytes = 0;
  for (const file of files) {
    if (file.isFile())
      bytes += await stat(join(file.parentPath, file.name)).then(
        (found) => found.size,
        () => 0,
      );
  }
  return { bytes, usedAtMs: await lastUseOf(context) };
}

/** 0: never, or it is gone. */
export async function lastUseOf(context: MirrorContext): Promise<number> {
  const lock = await stat(context.place.storeLock).catch(() => null);
  return lock?.mtimeMs ?? 0;
}

/** Removes a job's pins. It is fine if there are none. */
export async function releasePins(context: MirrorContext, jobId: string, signal: AbortSignal): Promise<void> {
  if (!(await mirrorExists(context.place.gitDir))) return;
  await writeOrClear(context, signal, () =>
    withStore(context, "shared", signal, (lockId) => writeRefs(context, pinsOf(jobId), lockId, signal)),
  );
}

function pinsOf(jobId: string): { name: string; id: null }[] {
  return [basePin, runPin, movedPin, forkPin, leftPin].map((pin) => ({ name: pin(jobId), id: null }));
}

/**
 * Each job leaves a dozen loose objects. They are rolled up into packs of doubling size, so that most packs stay
 * unchanged.
 */
export async function tidyMirror(
  context: MirrorContext,
  jobIds: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  const { git, place } = context;
  if (!(await mirrorExists(place.gitDir))) return;
  const args = ["repack", "-d", "-q", "--geometric=2"];
  await writeOrClear(context, signal, () =>
    withStore(context, "exclusive", signal, async (lockId) => {
      await writeRefs(context, jobIds.flatMap(pinsOf), lockId, signal);
      const command = { gitDir: place.gitDir, args, timeMsMax: gcMsMax, outputBytesMax: 64 * 1024 };
      await git.must({ ...command, locks: [lockId] }, signal);
      context.forgetReader();
    }),
  );
}

export async function pinnedJobs(context: MirrorContext): Promise<readonly string[]> {
  const pins = await readRefs(context.place.gitDir, [baseFolder, runFolder, movedFolder, forkFolder, leftFolder]);
  return [...new Set(pins.map((pin) => pin.name.slice(pin.name.lastIndexOf("/") + 1)))].sort();
}
