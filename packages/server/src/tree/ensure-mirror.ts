import { randomBytes } from "node:crypto";
import { readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Git } from "./git.ts";
import type { ObjectFormat } from "./object-id.ts";

/** Makes the mirror where there is none, whole or not at all. Call it with the fetch lock held. */
export async function ensureMirror(git: Git, gitDir: string, format: ObjectFormat, signal: AbortSignal): Promise<void> {
  if (await mirrorExists(gitDir)) return;
  const fresh = `${gitDir}.new-${randomBytes(6).toString("hex")}`;
  // No template: no hooks, no info. A branch that never comes: attributes are read from HEAD by some gits.
  const args = ["init", "--bare", "--quiet", "--template=", `--object-format=${format}`, "--initial-branch=emend/none"];
  try {
    await git.must({ gitDir: fresh, args, timeMsMax: 30_000, outputBytesMax: 10_000 }, signal);
    await rename(fresh, gitDir);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw error;
  }
}

export async function mirrorExists(gitDir: string): Promise<boolean> {
  return stat(gitDir).then(
    () => true,
    () => false,
  );
}

/** Read from its configuration, so that a mirror too broken for git has an answer as well. */
export async function mirrorFormat(gitDir: string): Promise<ObjectFormat> {
  const config = await readFile(join(gitDir, "config"), "utf8").catch(() => "");
  return /objectformat\s*=\s*sha256/i.test(config) ? "sha256" : "sha1";
}

/** Takes it away in one step, so that nobody sees half a mirror. */
export async function removeMirror(gitDir: string): Promise<void> {
  const gone = `${gitDir}.gone-${randomBytes(6).toString("hex")}`;
  await rename(gitDir, gone);
  await rm(gone, { recursive: true, force: true });
}
