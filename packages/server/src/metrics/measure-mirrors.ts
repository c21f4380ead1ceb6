import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { addGauge, type Metrics } from "./metrics.ts";

/** How many mirrors this node has, and their packs' bytes: nearly all that a mirror takes, and quick to add up. */
export function measureMirrors(metrics: Metrics, dir: string): void {
  addGauge(metrics, { name: "emend_mirrors", help: "Mirrors on this node" }, async (gauge) =>
    gauge.set((await listMirrors(dir)).length),
  );
  addGauge(metrics, { name: "emend_mirrors_bytes", help: "Bytes of the mirrors' packs" }, async (gauge) => {
    let bytes = 0;
    for (const mirror of await listMirrors(dir)) bytes += await packBytes(join(dir, mirror, "objects/pack"));
    gauge.set(bytes);
  });
}

async function listMirrors(dir: string): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
}

/** A pack may go while it is looked at. */
async function packBytes(dir: string): Promise<number> {
  const names = await readdir(dir).catch(() => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(dir, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
