import { TreeFault } from "../faults.ts";
import { type GitResult, gitError, httpStatusOf, isUntrusted } from "../git/git.ts";
import { unreadable } from "../read/blob-reader.ts";
import { checkObjectIds, type ObjectFormat, objectFormatOf } from "../tree.ts";
import type { Remote } from "./mirror.ts";
import {
  baseFolder,
  type MirrorContext,
  movedFolder,
  tipFolder,
  tipRef,
  withMirrorLock,
  withStore,
} from "./mirror-context.ts";
import {
  ensureMirror,
  mirrorExists,
  pinOrDoubt,
  type Ref,
  readRefs,
  repairMirror,
  setRefs,
  writeRefs,
} from "./repair-mirror.ts";
import { resolveBase, unreachable } from "./resolve-base.ts";

/** Fetches a branch's current commit and pins it. */
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
  // The branch may have moved since it was resolved: the fetched commit counts.
  const refs = await readRefs(context.place.gitDir, [baseFolder, movedFolder]);
  return { commit: refs.find((ref) => ref.name === pins[0])?.id ?? commit, ref: branch };
}

/** A commit with one of our refs is complete: it was verified when the ref was set, and is never collected. */
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
    // The blob reader knows this at no cost, and git verifies it again when it sets a ref.
    if ((await context.readObject(commit)) === null) throw unreadable(commit);
    await setRefs(context.place.gitDir, pins, commit);
    return true;
  });
}

/** Makes sure that a job's base commit is present and complete. Fetches it by id if needed. */
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

/** After a crash nothing is assumed: every object is verified. */
async function pinIfWhole(context: MirrorContext, commit: string, pin: string, signal: AbortSignal): Promise<boolean> {
  const { gitDir } = context.place;
  if (!(await mirrorExists(gitDir))) return false;
  return withStore(context, "shared", signal, async (lockId) => {
    const args = ["rev-list", "--objects", "--quiet", commit];
    const walk = await context.git.run({ gitDir, args, timeMsMax: 120_000, outputBytesMax: 10_000 }, signal);
    if (walk.code !== 0) return false;
    await writeRefs(context, [{ name: pin, id: commit }], lockId, signal);
    return true;
  });
}

interface Fetch {
  remote: Remote;
  format: ObjectFormat;
  /** `<branch or id>:<our ref>`, each a complete tree with one commit. */
  refspecs: readonly string[];
}

/**
 * Fetches commits under the fetch lock. A broken mirror is repaired or recreated. `isHere` is checked again under the
 * lock.
 */
function fetchObjects(
  context: MirrorContext,
  fetch: Fetch,
  isHere: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  return withMirrorLock(context, signal, async (lockId) => {
    await ensureMirror(context.git, context.place.gitDir, fetch.format, signal);
    if (context.health.suspect) await repair(context, fetch, lockId, signal);
    // Any error here also affects the fetch, which can repair it.
    if (await isHere().catch(() => false)) return;
    const first = await fetchOnce(context, fetch, fetch.refspecs, lockId, signal);
    if (first.code === 0) return;
    const { packBytesMax } = context.limits;
    const known = knownFetchFailure(first, packBytesMax);
    if (known) throw known;
    const repaired = await repair(context, fetch, lockId, signal);
    if (repaired === "sound") throw unreachable(first);
    const second = await fetchOnce(context, fetch, fetch.refspecs, lockId, signal);
    if (second.code !== 0) throw knownFetchFailure(second, packBytesMax) ?? unreachable(second);
  });
}

async function repair(context: MirrorContext, fetch: Fetch, lockId: number, signal: AbortSignal) {
  const result = await repairMirror(context, fetch.format, signal);
  if (result.kind === "renewed") {
    for (const pin of result.lost) await fetchLost(context, fetch, pin, lockId, signal);
  }
  return result.kind;
}

/** Other jobs read from this mirror. A job whose base the repository no longer has gets an error when it reads. */
async function fetchLost(
  context: MirrorContext,
  fetch: Fetch,
  pin: Ref,
  lockId: number,
  signal: AbortSignal,
): Promise<void> {
  const result = await fetchOnce(context, fetch, [`${pin.id}:${pin.name}`], lockId, signal);
  if (result.code !== 0) context.log.warn({ pin: pin.name, words: result.words }, "pinned base commit is gone");
}

function fetchOnce(
  context: MirrorContext,
  fetch: Fetch,
  refspecs: readonly string[],
  lockId: number,
  signal: AbortSignal,
): Promise<GitResult> {
  const { remote } = fetch;
  const args = ["fetch", "--depth=1", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--quiet"];
  return context.git.run(
    {
      gitDir: context.place.gitDir,
      args: [...args, "--no-show-forced-updates", "--", remote.url, ...refspecs.map((refspec) => `+${refspec}`)],
      remote,
      timeMsMax: context.limits.fetchMsMax,
      outputBytesMax: 64 * 1024,
      fileBytesMax: context.limits.packBytesMax,
      locks: [lockId],
    },
    signal,
  );
}

/** A failure that is clearly not the mirror's fault. Null: check the mirror. */
function knownFetchFailure(result: GitResult, packBytesMax: number): TreeFault | null {
  const { words, stderr } = result;
  if (/died of signal 25|File too large/.test(stderr)) {
    const mebibytes = Math.max(1, Math.floor(packBytesMax / 2 ** 20));
    const publicMessage = `The repository is too large: its newest commit takes more than ${mebibytes} MiB.`;
    return new TreeFault("repository_unavailable", { publicMessage });
  }
  if (/fsck error|error in .* object|hasDot|gitmodules/i.test(stderr)) {
    const what = "The repository contains objects that git considers damaged or hostile, so Emend does not read it.";
    return gitError("repository_unavailable", { what, words });
  }
  if (/not our ref|unadvertised object|couldn't find remote ref/.test(stderr)) {
    const what = "The repository no longer has the commit that this job begins from. Create the job again.";
    return gitError("repository_unavailable", { what, words });
  }
  return httpStatusOf(stderr) === null && !isUntrusted(stderr) ? null : unreachable(result);
}
