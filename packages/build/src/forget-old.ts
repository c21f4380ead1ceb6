import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Removes all but the newest entries that are named by a hash. */
export async function forgetOld(dir: string, entriesMax: number): Promise<void> {
  const names = (await readdir(dir)).filter((name) => /^[0-9a-f]{64}(?:\.json)?$/.test(name));
  if (names.length <= entriesMax) return;
  const at = async (name: string) => (await stat(join(dir, name)).catch(() => null))?.mtimeMs ?? 0;
  const aged = await Promise.all(names.map(async (name) => ({ name, at: await at(name) })));
  for (const { name } of aged.sort((a, b) => b.at - a.at).slice(entriesMax)) {
    await rm(join(dir, name), { recursive: true, force: true, maxRetries: 3 });
  }
}
