import { randomUUID } from "node:crypto";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { compare, treeOf } from "../../test/support/sources.ts";
import { indexSource } from "./source-index.ts";

test("reads only files that differ from the earlier index, and both stay true", async () => {
  const files = Object.fromEntries(
    Array.from({ length: 20 }, (_, i) => [`src/${i}.ts`, `export const name${i} = 1;\n`]),
  );
  const old = await indexSource(treeOf(files));
  const { "src/3.ts": _, ...others } = files;
  const next = treeOf({ ...others, "src/5.ts": "export const fresh = 1;\n" });
  const fresh = await indexSource(next, { previous: old });
  expect(next.reads).toEqual(["src/5.ts"]);
  expect([old.has("name3"), fresh.has("name3"), old.has("fresh"), fresh.has("fresh"), fresh.has("name5")]).toEqual([
    true,
    false,
    false,
    true,
    false,
  ]);
  expect(fresh.filesWith("name7")).toEqual(["src/7.ts"]);
});

test("reads many files in threads, with the same result", async () => {
  const files: Record<string, string | Uint8Array> = Object.fromEntries(
    Array.from({ length: 600 }, (_, i) => [
      `${i % 3 === 0 ? "test" : "src"}/${i}.ts`,
      `export const name${i} = other${i % 50};\nrun("--flag-${i % 9}", "/v1/jobs/:id/${i}");\n${"long\n".repeat(i % 100 === 7 ? 50_000 : 1)}\n`,
    ]),
  );
  files["kit/package.json"] = '{ "name": "kit", "exports": { "./part": "./part.js" } }';
  files["made.ts"] = "// @generated\nexport const made = 1;\n";
  files["large.ts"] = "x\n".repeat(600_000);
  files["data.x"] = new Uint8Array([0, 1]);
  files["latin.ts"] = new Uint8Array([0xff, 0xfe, 65]);
  const missing = "src/1.ts";
  const copied = treeOf(files);
  const folder = await mkdtemp(join(tmpdir(), "emend-copied-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const pathOf = new Map((await copied.list()).map(({ path, hash = "" }) => [hash, path]));
  copied.copyOut = async (hashes) => {
    const file = join(folder, randomUUID());
    const contents = hashes.flatMap((hash) => {
      const path = pathOf.get(hash) ?? "";
      const bytes = Buffer.from(files[path] ?? "");
      return path === missing
        ? [Buffer.from("id missing\n")]
        : [Buffer.from(`id blob ${bytes.length}\n`), bytes, Buffer.from("\n")];
    });
    await writeFile(file, Buffer.concat(contents));
    return file;
  };
  // Few enough at a time to be read one by one, in this thread.
  const first = await indexSource(treeOf(Object.fromEntries(Object.entries(files).slice(0, 300))));
  const other = await indexSource(treeOf(files), { previous: first });
  const index = await indexSource(copied);
  expect(await readdir(folder)).toEqual([]);
  // What git did not have is asked for once more: it may have been moved meanwhile.
  expect([copied.reads, index.read, other.read]).toEqual([[missing], 604, 304]);
  expect([...index.skipped]).toEqual([...other.skipped]);
  expect([...index.manifests]).toEqual([...other.manifests]);
  expect([index.exportsPart("kit/part"), index.exportsPart("kit/none")]).toEqual([true, false]);
  const words = Array.from({ length: 600 }, (_, i) => [`name${i}`, `/v1/jobs/{}/${i}`]).flat();
  for (let i = 0; i < 60; i++) words.push(`other${i}`, `--flag-${i}`, `flag-${i}`);
  words.push("export", "long", "run", "x", "A", "made");
  const known = ({ has, filesWith }: typeof index) => words.map((word) => [word, has(word), filesWith(word, 3)]);
  expect(known(index)).toEqual(known(other));
  const next = await indexSource(treeOf({ ...files, "src/2.ts": "export const fresh = 1;\n" }), { previous: index });
  expect([next.read, next.has("fresh"), next.has("name2"), index.has("name2")]).toEqual([1, true, false, true]);
});

test("says why files could not be copied, and leaves none of the other copies behind", async () => {
  const tree = treeOf(Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`src/${i}.ts`, `name${i}\n`])));
  const folder = await mkdtemp(join(tmpdir(), "emend-copied-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  let copies = 0;
  tree.copyOut = async (hashes) => {
    if (copies++ > 0) throw new Error("the disk is full");
    const file = join(folder, "copy");
    await writeFile(file, hashes.map((hash) => `${hash} blob 1\nx\n`).join(""));
    return file;
  };
  await expect(indexSource(tree)).rejects.toThrow("the disk is full");
  expect([copies, await readdir(folder)]).toEqual([2, []]);
});

test("finds every word of a file with very many short ones", async () => {
  const words = Array.from({ length: 2200 }, (_, i) => `w${i.toString(36)}`);
  const text = words.map((word, i) => (i % 7 === 0 ? `const ${word} = 1;\n` : `${word} `)).join("");
  const index = await indexSource(treeOf({ "a.ts": text, "b.ts": "other\n" }));
  expect(words.filter((word) => !index.has(word))).toEqual([]);
  expect([index.has("w"), index.filesWith("w1j"), index.filesWith("other")]).toEqual([false, ["a.ts"], ["b.ts"]]);
});

test("says what it did not read, and takes nothing in such a file for gone", async () => {
  const long = `export const x = "${"a,".repeat(4000)}";`;
  const skipped = {
    "a.min.js": "x",
    "b.js": long,
    "c.ts": "// Code generated by tool. DO NOT EDIT.\nexport const made = 1;",
    "d.bin": new Uint8Array([0, 1]),
    "e.ts": new Uint8Array([0xff, 0xfe, 65]),
    "f.ts": "x\n".repeat(600_000),
    "yarn.lock": "x",
    "vendor/a.go": "x",
    "README.md": "`x`",
    ".github/workflows/a.yml": "x",
  };
  expect(Object.fromEntries((await indexSource(treeOf(skipped))).skipped)).toEqual({
    "a.min.js": "minified",
    "b.js": "minified",
    "c.ts": "generated",
    "d.bin": "binary",
    "e.ts": "not UTF-8",
    "f.ts": "too large",
    "yarn.lock": "lock file",
    "vendor/a.go": "vendored",
    "README.md": "prose",
    ".github/workflows/a.yml": "CI",
  });
  const before = { "c.ts": "export const madeHere = 1;\n" };
  expect(await compare(before, { "c.ts": "// @generated\nexport const other = 1;\n" }, "`madeHere`")).toEqual([]);
});
