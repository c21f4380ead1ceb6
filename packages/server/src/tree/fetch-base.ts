import { unreadable } from "./blob-reader.ts";
import { mirrorExists } from "./ensure-mirror.ts";
import { fetchObjects } from "./fetch-objects.ts";
import type { Remote } from "./mirror.ts";
import { type MirrorContext, withStore } from "./mirror-context.ts";
import { objectFormatOf } from "./object-id.ts";
import { baseFolder, movedFolder, tipFolder, tipRef } from "./pin-names.ts";
import { readRefs, setRefs } from "./refs.ts";
import { pinOrDoubt } from "./repair-mirror.ts";
import { resolveBase } from "./resolve-base.ts";

/** Fetches a branch as it is now and sets the pins to it. */
export async function fetchBase(
  context: MirrorContext,
  input: { remote: Remote; baseRef: string | null; pins: readonly string[] },
  signal: AbortSignal,
): Promise<{ commit: string; ref: string }> {
  const { remote, pins } = input;
  const { branch, commit } = await resolveBase(context.git, input, signal);
  const pinHere = () => pinIfHere(context, commit, pins, signal);
  if (await pinOrDoubt(context, pinHere, signal)) return { commit, ref: branch };

  const source = `refs/heads/${branch}`;
  const refspecs = [tipRef(branch), ...pins].map((ref) => `${source}:${ref}`);
  await fetchObjects(context, { remote, refspecs, format: objectFormatOf(commit) }, pinHere, signal);
  // The branch may have moved since it was asked for: what was fetched counts.
  const refs = await readRefs(context.place.gitDir, [baseFolder, movedFolder]);
  return { commit: refs.find((ref) => ref.name === pins[0])?.id ?? commit, ref: branch };
}

/** A commit that a ref of ours points at is whole: it was looked for when that was set, and is never collected. */
async function pinIfHere(
  context: MirrorContext,
  commit: string,
  pins: readonly string[],
  signal: AbortSignal,
): Promise<boolean> {
  if (!(await mirrorExists(context.place.gitDir))) return false;
  return withStore(context, "shared", signal, async () => {
    const held = await readRefs(context.place.gitDir, [baseFolder, tipFolder]);
    if (!held.some((ref) => ref.id === commit)) return false;
    // The process that reads files knows it at no cost, and git would look before it sets a ref as well.
    if ((await context.readObject(commit)) === null) throw unreadable(commit);
    await setRefs(context.place.gitDir, pins, commit);
    return true;
  });
}
