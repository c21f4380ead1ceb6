import { mirrorExists } from "./ensure-mirror.ts";
import { type MirrorContext, withStore } from "./mirror-context.ts";
import {
  baseFolder,
  basePin,
  forkFolder,
  forkPin,
  leftFolder,
  leftPin,
  movedFolder,
  movedPin,
  runFolder,
  runPin,
} from "./pin-names.ts";
import { readRefs, writeRefs } from "./refs.ts";
import { writeOrClear } from "./repair-mirror.ts";

/** Drops what a job had pinned; a job without pins is no fault. */
export async function releasePins(context: MirrorContext, jobId: string, signal: AbortSignal): Promise<void> {
  if (!(await mirrorExists(context.place.gitDir))) return;
  const pins = [basePin, runPin, movedPin, forkPin, leftPin].map((pin) => pin(jobId));
  const refs = pins.map((name) => ({ name, id: null }));
  await writeOrClear(context, signal, () =>
    withStore(context, "shared", signal, (descriptor) => writeRefs(context, refs, descriptor, signal)),
  );
}

export async function pinnedJobs(context: MirrorContext): Promise<readonly string[]> {
  const pins = await readRefs(context.place.gitDir, [baseFolder, runFolder, movedFolder, forkFolder, leftFolder]);
  return [...new Set(pins.map((pin) => pin.name.slice(pin.name.lastIndexOf("/") + 1)))].sort();
}
