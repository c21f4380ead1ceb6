import { mirrorExists } from "./ensure-mirror.ts";
import { fetchObjects } from "./fetch-objects.ts";
import type { Remote } from "./mirror.ts";
import { type MirrorContext, withStore } from "./mirror-context.ts";
import { objectFormatOf } from "./object-id.ts";
import { baseFolder, basePin, tipFolder, tipRef } from "./pin-names.ts";
import { listRefs, writeRefs } from "./refs.ts";
import { writeOrClear } from "./repair-mirror.ts";
import { resolveBase } from "./resolve-base.ts";

/** Fetches a branch as it is now and pins it for the jobs. */
export async function fetchBase(
  context: MirrorContext,
  input: { remote: Remote; baseRef: string | null; jobIds: readonly string[] },
  signal: AbortSignal,
): Promise<{ commit: string; ref: string }> {
  const { remote, jobIds } = input;
  const { branch, commit } = await resolveBase(context.git, input, signal);
  const pins = jobIds.map(basePin);
  const pinHere = () => pinIfHere(context, commit, pins, signal);
  if (!context.health.suspect && (await writeOrClear(context, signal, pinHere))) return { commit, ref: branch };

  const source = `refs/heads/${branch}`;
  const refspecs = [tipRef(branch), ...pins].map((ref) => `${source}:${ref}`);
  await fetchObjects(context, { remote, refspecs, format: objectFormatOf(commit) }, pinHere, signal);
  // The branch may have moved since it was asked for: what was fetched counts.
  const pinned = await listRefs(context, { folders: pins.slice(0, 1) }, signal);
  return { commit: pinned?.[0]?.id ?? commit, ref: branch };
}

/** A commit that a ref of ours points at is whole: git checks that before it sets one, and never collects it. */
async function pinIfHere(
  context: MirrorContext,
  commit: string,
  pins: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await mirrorExists(context.place.gitDir))) return false;
  return withStore(context, "shared", signal, async (descriptor) => {
    const holders = await listRefs(context, { folders: [baseFolder, tipFolder], pointsAt: commit }, signal);
    if (!holders?.length) return false;
    const refs = pins.map((name) => ({ name, id: commit }));
    await writeRefs(context, refs, descriptor, signal);
    return true;
  });
}
