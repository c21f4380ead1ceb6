import { ensureMirror } from "./ensure-mirror.ts";
import { knownFetchFailure } from "./fetch-failure.ts";
import type { GitResult } from "./git.ts";
import type { Remote } from "./mirror.ts";
import { alone, type MirrorContext } from "./mirror-context.ts";
import type { ObjectFormat } from "./object-id.ts";
import type { Ref } from "./refs.ts";
import { repairMirror } from "./repair-mirror.ts";
import { unreachable } from "./resolve-base.ts";

export interface Fetch {
  remote: Remote;
  format: ObjectFormat;
  /** `<branch or id>:<our ref>`, each a whole tree with one commit. */
  refspecs: readonly string[];
}

/** Brings commits here, alone; a mirror in the way is repaired, or made anew. `isHere` is asked once it is our turn. */
export function fetchObjects(
  context: MirrorContext,
  fetch: Fetch,
  isHere: () => Promise<boolean>,
  signal: AbortSignal,
): Promise<void> {
  return alone(context, signal, async (descriptor) => {
    await ensureMirror(context.git, context.place.gitDir, fetch.format, signal);
    if (context.health.suspect) await repair(context, fetch, descriptor, signal);
    // Whatever hinders it hinders the fetch too, which knows how to repair.
    if (await isHere().catch(() => false)) return;
    const first = await fetchOnce(context, fetch, fetch.refspecs, descriptor, signal);
    if (first.code === 0) return;
    const { packBytesMax } = context.limits;
    const known = knownFetchFailure(first, packBytesMax);
    if (known) throw known;
    const repaired = await repair(context, fetch, descriptor, signal);
    if (repaired === "sound") throw unreachable(first);
    const second = await fetchOnce(context, fetch, fetch.refspecs, descriptor, signal);
    if (second.code !== 0) throw knownFetchFailure(second, packBytesMax) ?? unreachable(second);
  });
}

async function repair(context: MirrorContext, fetch: Fetch, descriptor: number, signal: AbortSignal) {
  const result = await repairMirror(context, fetch.format, signal);
  if (result.kind === "renewed") {
    for (const pin of result.lost) await fetchLost(context, fetch, pin, descriptor, signal);
  }
  return result.kind;
}

/** Other jobs read from here; one whose base the repository no longer has hears of it when it reads. */
async function fetchLost(
  context: MirrorContext,
  fetch: Fetch,
  pin: Ref,
  descriptor: number,
  signal: AbortSignal,
): Promise<void> {
  const result = await fetchOnce(context, fetch, [`${pin.id}:${pin.name}`], descriptor, signal);
  if (result.code !== 0) context.log.warn({ pin: pin.name, words: result.words }, "pinned base is lost");
}

function fetchOnce(
  context: MirrorContext,
  fetch: Fetch,
  refspecs: readonly string[],
  descriptor: number,
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
      descriptors: [descriptor],
    },
    signal,
  );
}
