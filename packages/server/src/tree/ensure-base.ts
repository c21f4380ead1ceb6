import { AppError, isAppError } from "../errors.ts";
import { mirrorExists } from "./ensure-mirror.ts";
import { fetchObjects } from "./fetch-objects.ts";
import type { Remote } from "./mirror.ts";
import { type MirrorContext, withStore } from "./mirror-context.ts";
import { checkObjectIds, objectFormatOf } from "./object-id.ts";
import { basePin } from "./pin-names.ts";
import { writeRefs } from "./refs.ts";
import { writeOrClear } from "./repair-mirror.ts";
import { resolveBranch } from "./resolve-base.ts";

/** Makes sure that the commit a job began from is here and whole, fetching it by its id if need be. */
export async function ensureBase(
  context: MirrorContext,
  input: { remote: Remote; jobId: string; commit: string },
  signal: AbortSignal,
): Promise<void> {
  const { remote, commit } = input;
  checkObjectIds(commit);
  const pin = basePin(input.jobId);
  const pinHere = () => pinIfWhole(context, commit, pin, signal);
  if (!context.health.suspect && (await writeOrClear(context, signal, pinHere))) return;
  try {
    const fetch = { remote, refspecs: [`${commit}:${pin}`], format: objectFormatOf(commit) };
    await fetchObjects(context, fetch, pinHere, signal);
  } catch (error) {
    signal.throwIfAborted();
    // Either the repository cannot be reached, which asking it anything shows, or it no longer has the commit.
    await resolveBranch(context.git, { remote, branch: "HEAD" }, signal);
    if (isAppError(error) && !error.retryable) throw error;
    throw new AppError("repository_unavailable", {
      publicMessage: `The repository no longer has the commit ${commit.slice(0, 12)} that this job began from. Create the job again.`,
      cause: error,
    });
  }
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
