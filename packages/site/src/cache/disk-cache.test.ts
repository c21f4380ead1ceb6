import { mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryTree } from "../../test/support/memory-tree.ts";
import { mintlifySite } from "../../test/support/mintlify-site.ts";
import { checkSite } from "../check-site.ts";
import { openSite } from "../open-site.ts";
import { openDiskCache } from "./disk-cache.ts";

describe("openDiskCache", () => {
  let dir = "";
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "emend-cache-"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it("keeps facts for the next process, which then reads no page", async () => {
    const tree = memoryTree(mintlifySite);
    const first = await openDiskCache(dir);
    const expected = await checkSite(await openSite(tree, { cache: first }));
    await first.flush();
    const reads: string[] = [];
    const watched = {
      ...tree,
      read(path: string) {
        reads.push(path);
        return tree.read(path);
      },
    };
    const findings = await checkSite(await openSite(watched, { cache: await openDiskCache(dir) }));
    expect(findings).toEqual(expected);
    expect(new Set(reads)).toEqual(new Set(["docs.json"]));
  });

  it("keeps entries that several processes write at the same time", async () => {
    const caches = await Promise.all(Array.from({ length: 8 }, () => openDiskCache(dir)));
    await Promise.all(
      caches.map(async (cache, i) => {
        for (let n = 0; n < 50; n++) cache.set(`k:${i}-${n}`, `{"n":${n}}`);
        await cache.flush();
      }),
    );
    const cache = await openDiskCache(dir);
    for (let i = 0; i < 8; i++) expect(cache.get(`k:${i}-49`)).toBe('{"n":49}');
  });

  it("stays within its bound and gathers scattered packs", async () => {
    const bytesMax = 20_000;
    for (let round = 0; round < 30; round++) {
      const cache = await openDiskCache(dir, { bytesMax });
      cache.set(`k:${round}`, `{"x":"${"y".repeat(2000)}"}`);
      await cache.flush();
    }
    const names = await readdir(dir);
    const sizes = await Promise.all(names.map(async (name) => (await stat(join(dir, name))).size));
    expect(sizes.reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(bytesMax);
    expect(names.length).toBeLessThanOrEqual(17);
    expect((await openDiskCache(dir)).get("k:29")).toBeDefined();
  });

  it("takes what is damaged for a miss, and keeps the rest", async () => {
    const first = await openDiskCache(dir);
    first.set("k:1", '{"n":1}');
    first.set("k:2", '{"n":2}');
    await first.flush();
    const [name = ""] = await readdir(dir);
    const pack = await readFile(join(dir, name), "utf8");
    await writeFile(join(dir, name), `\0garbage\nk:3\t{"half":\n${pack.replace('"n":1', '"n":7')}`);
    const cache = await openDiskCache(dir);
    expect(["k:1", "k:2", "k:3"].map(cache.get)).toEqual([undefined, '{"n":2}', undefined]);
  });
});
