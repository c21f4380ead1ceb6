import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Git } from "../git/git.ts";
import { checkObjectIds, objectFormatOf } from "../tree.ts";
import type { Remote } from "./mirror.ts";
import { listRemote, unreachable } from "./resolve-base.ts";

const timeMsMax = 120_000;
const outputBytesMax = 64 * 1024;
/** Far more than a branch of a job ever gets, and a few hundred kilobytes without the files. */
const commitsMax = 2_000;

/**
 * Whether one of the remote's refs has the commit in its history. The mirror cannot tell: it has one commit of each
 * branch. So the commits alone are fetched, without their files, into a folder that is deleted afterwards.
 */
export async function remoteContains(
  git: Git,
  { remote, refs, commit }: { remote: Remote; refs: readonly string[]; commit: string },
  signal: AbortSignal,
): Promise<boolean> {
  checkObjectIds(commit);
  const { ids } = await listRemote(git, remote, refs, signal);
  const present = refs.filter((ref) => ids.has(ref));
  if (present.some((ref) => ids.get(ref) === commit)) return true;
  if (present.length === 0) return false;
  const gitDir = await mkdtemp(join(tmpdir(), "emend-ancestry-"));
  const common = { gitDir, timeMsMax, outputBytesMax };
  try {
    const init = ["init", "--quiet", "--bare", "--template=", `--object-format=${objectFormatOf(commit)}`, gitDir];
    await git.must({ ...common, args: init }, signal);
    const limits = [`--depth=${commitsMax}`, "--filter=tree:0", "--no-tags", "--no-write-fetch-head", "--quiet"];
    const refspecs = present.map((ref, index) => `${ref}:refs/emend/there/${index}`);
    const args = ["fetch", ...limits, "--", remote.url, ...refspecs];
    const fetched = await git.run({ ...common, args, remote }, signal);
    if (fetched.code !== 0) throw unreachable(fetched);
    const holding = ["for-each-ref", "--count=1", `--contains=${commit}`];
    // Git fails on a commit that was not fetched: then no ref has it.
    const found = await git.run({ ...common, args: holding }, signal);
    return found.code === 0 && found.stdout.length > 0;
  } finally {
    await rm(gitDir, { recursive: true, force: true });
  }
}
