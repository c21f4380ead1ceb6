import type { MirrorContext } from "./mirror-context.ts";

export interface Ref {
  name: string;
  id: string;
}

const timeMsMax = 60_000;
const outputBytesMax = 64 * 1024 * 1024;

/** Null where git cannot tell: the mirror is broken, or has no such object. */
export async function listRefs(
  context: MirrorContext,
  input: { folders: readonly string[]; pointsAt?: string; sort?: string },
  signal: AbortSignal,
): Promise<readonly Ref[] | null> {
  const args = ["for-each-ref", "--format=%(objectname) %(refname)"];
  if (input.pointsAt) args.push(`--points-at=${input.pointsAt}`);
  if (input.sort) args.push(`--sort=${input.sort}`);
  const { gitDir } = context.place;
  const result = await context.git.run(
    { gitDir, args: [...args, ...input.folders], timeMsMax, outputBytesMax },
    signal,
  );
  if (result.code !== 0) return null;
  const lines = result.stdout.toString("utf8").split("\n").filter(Boolean);
  return lines.map((line) => ({ id: line.slice(0, line.indexOf(" ")), name: line.slice(line.indexOf(" ") + 1) }));
}

/** Sets refs, or deletes those whose id is null, all or none. Call it with the store's lock held. */
export async function writeRefs(
  context: MirrorContext,
  refs: readonly { name: string; id: string | null }[],
  descriptor: number,
  signal: AbortSignal,
): Promise<void> {
  const input = refs.map(({ name, id }) => (id === null ? `delete ${name}\n` : `update ${name} ${id}\n`));
  await context.git.must(
    {
      gitDir: context.place.gitDir,
      args: ["update-ref", "--stdin"],
      input,
      timeMsMax,
      outputBytesMax: 10_000,
      descriptors: [descriptor],
    },
    signal,
  );
}
