import { mirrorExists } from "./ensure-mirror.ts";
import { fetchObjects } from "./fetch-objects.ts";
import type { Remote } from "./mirror.ts";
import { type MirrorContext, withStore } from "./mirror-context.ts";
import { checkObjectIds, objectFormatOf } from "./object-id.ts";
import { writeRefs } from "./refs.ts";
import { pinOrDoubt } from "./repair-mirror.ts";

/** Makes sure that the commit a job began from is here and whole, fetching it by its id if need be. */
export async function ensureBase(
  context: MirrorContext,
  input: { remote: Remote; commit: string; pin: string },
  signal: AbortSignal,
): Promise<void> {
  const { remote, commit, pin } = input;
  checkObjectIds(commit);
  const pinHere = () => pinIfWhole(context, commit, pin, signal);
  if (await pinOrDoubt(context, pinHere, signal)) return;
  const fetch = { remote, refspecs: [`${commit}:${pin}`], format: objectFormatOf(commit) };
  await fetchObjects(context, fetch, pinHere, signal);
}

/** On the way back from a crash nothing is taken for granted: every object is looked for. */
async function pinIfWhole(context: MirrorContext, commit: string, pin: string, signal: AbortSignal): Promise<boolean> {
  const { gitDir } = context.place;
  if (!(await mirrorExists(gitDir))) return false;
  return withStore(context, "shared", signal, async (descriptor) => {
    const args = ["rev-list", "--objects", "--quiet", commit];
    const walk = await context.git.run({ gitDir, args, timeMsMax: 120_000, outputBytesMax: 10_000 }, signal);
    if (walk.code !== 0) return false;
    await writeRefs(context, [{ name: pin, id: commit }], descriptor, signal);
    return true;
  });
}
