import { createHash } from "node:crypto";
import { mkdtemp, open, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { findChromium, type Seen, watchChange } from "@emend/build";
import { trySandbox } from "@emend/runners";
import { startBound } from "@emend/tree";

const limits = { timeoutMs: 0, memoryBytesMax: 4 * 2 ** 30, processesMax: 512, diskBytesMax: 0 };
const clockMs = 20 * 60_000;

/** What the built pages do that the site without the changes does not, by the product's own comparison in Chromium. */
export async function watchSites(
  folders: { before: string; after: string },
  files: readonly string[],
): Promise<readonly Seen[]> {
  const path = [dirname(process.env.CHROMIUM_PATH ?? "/"), process.env.PATH].join(":");
  const [sandbox, chromium] = [await trySandbox(startBound, path), await findChromium(path)];
  if (sandbox.kind !== "usable" || chromium === null) throw new Error("the builders need bubblewrap and Chromium");
  const dir = await mkdtemp(join(tmpdir(), "emend-watched-"));
  try {
    const [before, after] = [join(dir, "before"), join(dir, "after")];
    await pack(folders.before, before);
    await pack(folders.after, after);
    const deps = { start: startBound, sandbox, limits, chromium };
    const task = { before, after, base: "", pages: [], blobs: files.map(blobId), openedMax: 2_000, clockMs };
    const { seen, isWhole } = await watchChange(deps, task, AbortSignal.timeout(clockMs));
    if (!isWhole) console.log("  the browser did not come to the end");
    return seen;
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function blobId(text: string): string {
  return createHash("sha1")
    .update(`blob ${Buffer.byteLength(text)}\0${text}`)
    .digest("hex");
}

/** A folder in the form that the sandbox reads. */
async function pack(folder: string, file: string): Promise<void> {
  const packed = await open(file, "w");
  const write = async (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.byteLength);
    await packed.write(Buffer.concat([length, bytes]));
  };
  // What does not build leaves none.
  for (const path of await readdir(folder, { recursive: true }).catch(() => [])) {
    const bytes = await readFile(join(folder, path)).catch(() => null);
    if (bytes === null) continue;
    await write(Buffer.from(JSON.stringify({ path })));
    await write(bytes);
  }
  await packed.close();
}
