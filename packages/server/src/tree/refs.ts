import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { MirrorContext } from "./mirror-context.ts";

export interface Ref {
  name: string;
  id: string;
}

const timeMsMax = 60_000;

/** Refs from the files themselves: no process, and a mirror too broken for git still says which jobs need it. */
export async function readRefs(gitDir: string, folders: readonly string[]): Promise<readonly Ref[]> {
  const refs = new Map<string, Ref>();
  // Loose ones first, and they win: what is packed in the meantime is then seen at least once.
  for (const folder of folders) {
    for (const file of await readdir(join(gitDir, folder)).catch(() => [])) {
      const id = file.endsWith(".lock") ? null : await readFile(join(gitDir, folder, file), "utf8").catch(() => null);
      if (id !== null) refs.set(folder + file, { name: folder + file, id: id.trim() });
    }
  }
  const packed = await readFile(join(gitDir, "packed-refs"), "utf8").catch(() => "");
  for (const line of packed.split("\n")) {
    const name = line.slice(line.indexOf(" ") + 1);
    const wanted = folders.some((folder) => name.startsWith(folder)) && !refs.has(name);
    if (wanted) refs.set(name, { name, id: line.slice(0, line.indexOf(" ")) });
  }
  return [...refs.values()];
}

/**
 * Sets refs to a commit that another ref of ours holds, as git itself does it: a lock file, moved into place. Without a
 * process, since every job begins with this. Call it with the store's lock held.
 */
export async function setRefs(gitDir: string, names: readonly string[], id: string): Promise<void> {
  for (const name of names) {
    const path = join(gitDir, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(`${path}.lock`, `${id}\n`, { flag: "wx" });
    await rename(`${path}.lock`, path);
  }
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
