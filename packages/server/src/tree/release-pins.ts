import { mirrorExists } from "./ensure-mirror.ts";
import { type MirrorContext, withStore } from "./mirror-context.ts";
import { baseFolder, basePin, runFolder, runPin } from "./pin-names.ts";
import { listRefs, writeRefs } from "./refs.ts";
import { writeOrClear } from "./repair-mirror.ts";

/** Drops what a job had pinned; a job without pins is no fault. */
export async function releasePins(context: MirrorContext, jobId: string, signal: AbortSignal): Promise<void> {
  if (!(await mirrorExists(context.place.gitDir))) return;
  const refs = [basePin(jobId), runPin(jobId)].map((name) => ({ name, id: null }));
  await writeOrClear(context, signal, () =>
    withStore(context, "shared", signal, (descriptor) => writeRefs(context, refs, descriptor, signal)),
  );
}

/** The jobs that have a pin; null where the mirror is too broken to tell. */
export async function pinnedJobs(context: MirrorContext, signal: AbortSignal): Promise<readonly string[] | null> {
  const refs = await listRefs(context, { folders: [baseFolder, runFolder] }, signal);
  if (!refs) return null;
  return [...new Set(refs.map((ref) => ref.name.slice(ref.name.lastIndexOf("/") + 1)))];
}
