import { crc32, deflateRawSync } from "node:zlib";
import { expect, it } from "vitest";
import { framesOf, readChosen, readZip } from "./chosen-files.ts";

/** A zip as programs write it: each file with its head, then the directory. */
function zipOf(files: Record<string, string>, { flags = 0, size = 0 } = {}): Uint8Array<ArrayBuffer> {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const [path, plain] = [Buffer.from(name), Buffer.from(text)];
    const packed = deflateRawSync(plain);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt32LE(crc32(plain), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(size || plain.length, 18);
    shared.writeUInt16LE(path.length, 22);
    parts.push(Buffer.from("PK\x03\x04"), shared, path, packed);
    const entry = Buffer.alloc(16);
    entry.writeUInt32LE(at, 12);
    directory.push(Buffer.from("PK\x01\x02"), Buffer.from([20, 0]), shared, entry.subarray(2), path);
    at += 30 + path.length + packed.length;
  }
  const middle = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write("PK\x05\x06");
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(at, 16);
  return new Uint8Array(Buffer.concat([...parts, middle, end]));
}

const textOf = (files: readonly { path: string; bytes: Uint8Array }[]) =>
  Object.fromEntries(files.map(({ path, bytes }) => [path, Buffer.from(bytes).toString()]));

it("reads a zip, without folders and what docs do not have", async () => {
  const zip = zipOf({ "docs/": "", "docs/ü.md": "# Ü\n", "docs/node_modules/a.js": "x", "__MACOSX/x": "x" });
  expect(textOf(await readZip(zip))).toEqual({ "docs/ü.md": "# Ü\n" });
});

it("refuses what is no zip, is encrypted, or is larger inside than it says", async () => {
  await expect(readZip(new Uint8Array(100))).rejects.toThrow("not a zip");
  await expect(readZip(zipOf({ "a.md": "text" }, { flags: 1 }))).rejects.toThrow("encrypted");
  await expect(readZip(zipOf({ "a.md": "text".repeat(100) }, { size: 3 }))).rejects.toThrow("damaged");
  await expect(readZip(zipOf({ "a.md": "text" }, { size: 2 ** 31 }))).rejects.toThrow("60 MB");
});

it("takes the chosen folder's name off its paths, and frames the files", async () => {
  const file = (text: string) => new File([text], "x");
  const chosen = await readChosen([
    { path: "site/index.md", file: file("one") },
    { path: "site/guides/a.md", file: file("two") },
    { path: "site/.git/config", file: file("no") },
  ]);
  expect(textOf(chosen)).toEqual({ "index.md": "one", "guides/a.md": "two" });
  const bytes = Buffer.from(await framesOf(chosen).arrayBuffer());
  expect([bytes.readUInt32BE(0), bytes.readUInt32BE(4), bytes.toString("utf8", 8, 19)]).toEqual([8, 3, "index.mdone"]);
  await expect(readChosen([{ path: ".git/config", file: file("x") }])).rejects.toThrow("no files");
});
