import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { baseFolder, runFolder } from "./pin-names.ts";

export interface Pin {
  jobId: string;
  ref: string;
  id: string;
}

/** Every pin, from the files themselves: a mirror too broken for git still says which jobs need it. */
export async function readPins(gitDir: string): Promise<readonly Pin[]> {
  const pins = new Map<string, Pin>();
  const packed = await readFile(join(gitDir, "packed-refs"), "utf8").catch(() => "");
  for (const line of packed.split("\n")) {
    const ref = line.slice(line.indexOf(" ") + 1);
    const folder = [baseFolder, runFolder].find((name) => ref.startsWith(name));
    if (folder) pins.set(ref, { jobId: ref.slice(folder.length), ref, id: line.slice(0, line.indexOf(" ")) });
  }
  // A loose file wins over its packed line.
  for (const folder of [baseFolder, runFolder]) {
    for (const jobId of await readdir(join(gitDir, folder)).catch(() => [])) {
      if (jobId.endsWith(".lock")) continue;
      const ref = folder + jobId;
      const id = (await readFile(join(gitDir, ref), "utf8").catch(() => "")).trim();
      pins.set(ref, { jobId, ref, id });
    }
  }
  return [...pins.values()];
}
