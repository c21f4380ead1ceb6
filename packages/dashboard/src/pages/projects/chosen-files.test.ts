import { expect, it } from "vitest";
import { framesOf, readChosen, readZip } from "./chosen-files.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

async function deflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function numbers(bytes: number, values: Readonly<Record<number, number>>): Uint8Array<ArrayBuffer> {
  const view = new DataView(new ArrayBuffer(bytes));
  for (const [at, value] of Object.entries(values)) {
    if (Number(at) + 4 > bytes) view.setUint16(Number(at), value, true);
    else view.setUint32(Number(at), value, true);
  }
  return new Uint8Array(view.buffer);
}

/** A zip as programs write it: each file with its head, then the directory, then its end. */
async function zipOf(files: Record<string, string>, { flags = 0, size = 0 } = {}): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let at = 0;
  for (const [name, text] of Object.entries(files)) {
    const [path, plain] = [encode(name), encode(text)];
    const packed = await deflate(plain);
    const sizes = [packed.length, size || plain.length] as const;
    parts.push(numbers(30, { 0: 0x04034b50, 26: path.length }), path, packed);
    // Flags and method share four bytes: 8 is "deflated".
    const entry = { 0: 0x02014b50, 8: flags + 8 * 65_536, 20: sizes[0], 24: sizes[1], 28: path.length, 42: at };
    directory.push(numbers(46, entry), path);
    at += 30 + path.length + packed.length;
  }
  const end = numbers(22, { 0: 0x06054b50, 10: Object.keys(files).length, 16: at });
  return new Uint8Array(await new Blob([...parts, ...directory, end]).arrayBuffer());
}

const textOf = (files: readonly { path: string; bytes: Uint8Array }[]) =>
  Object.fromEntries(files.map(({ path, bytes }) => [path, decode(bytes)]));

it("reads a zip, without folders and what docs do not have", async () => {
  const zip = await zipOf({ "docs/": "", "docs/ü.md": "# Ü\n", "docs/node_modules/a.js": "x", "__MACOSX/x": "x" });
  expect(textOf(await readZip(zip))).toEqual({ "docs/ü.md": "# Ü\n" });
});

it("refuses what is no zip, is encrypted, or is larger inside than it says", async () => {
  await expect(readZip(new Uint8Array(100))).rejects.toThrow("not a zip");
  await expect(readZip(await zipOf({ "a.md": "text" }, { flags: 1 }))).rejects.toThrow("encrypted");
  await expect(readZip(await zipOf({ "a.md": "text".repeat(100) }, { size: 3 }))).rejects.toThrow("damaged");
  await expect(readZip(await zipOf({ "a.md": "text" }, { size: 2 ** 31 }))).rejects.toThrow("60 MB");
});

it("takes the chosen folder's name off its paths, and frames the files", async () => {
  const file = (text: string) => new File([text], "x");
  const chosen = await readChosen([
    { path: "site/index.md", file: file("one") },
    { path: "site/guides/a.md", file: file("two") },
    { path: "site/.git/config", file: file("no") },
  ]);
  expect(textOf(chosen)).toEqual({ "index.md": "one", "guides/a.md": "two" });
  const bytes = new Uint8Array(await framesOf(chosen).arrayBuffer());
  const view = new DataView(bytes.buffer);
  expect([view.getUint32(0), view.getUint32(4), decode(bytes.subarray(8, 19))]).toEqual([8, 3, "index.mdone"]);
  await expect(readChosen([{ path: ".git/config", file: file("x") }])).rejects.toThrow("no files");
});
