import { expect, it } from "vitest";
import { readFrames } from "./project-import.ts";

function frame(path: string, content = ""): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(Buffer.byteLength(path), 0);
  head.writeUInt32BE(Buffer.byteLength(content), 4);
  return Buffer.concat([head, Buffer.from(path + content)]);
}

it("reads the files of an upload", () => {
  const files = readFrames(Buffer.concat([frame("index.md", "# Docs"), frame("é.md")]));
  expect(files.map(({ path, content }) => [path, String(content)])).toEqual([
    ["index.md", "# Docs"],
    ["é.md", ""],
  ]);
});

it("stops at the first file that cannot be one: an upload of zeros would be millions", () => {
  expect(() => readFrames(Buffer.alloc(64))).toThrow("A file has no path.");
  expect(() => readFrames(Buffer.concat(Array(200_001).fill(frame("a"))))).toThrow("more than 200000 files");
  expect(() => readFrames(frame("index.md", "# Docs").subarray(0, -1))).toThrow("incomplete");
});
