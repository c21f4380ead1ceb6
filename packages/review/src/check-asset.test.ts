import { expect, it } from "vitest";
import { problemOfAsset } from "./check-asset.ts";

const images = {
  "a.png": "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "a.gif": "R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7",
  "a.jpg":
    "/9j/4AAQSkZJRgABAQEAYABgAAD/2wBDAAgGBgcGBQgHBwcJCQgKDBQNDAsLDBkSEw8UHRofHh0aHBwgJC4nICIsIxwcKDcpLDAxNDQ0Hyc5PTgyPC4zNDL/wAALCAABAAEBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AVN//2Q==",
  "a.webp": "UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA",
  "b.webp": "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==",
};

it.each(Object.entries(images))("%s: only the whole image, with nothing behind it, needs no review", (path, text) => {
  const bytes = Buffer.from(text, "base64");
  expect(problemOfAsset(path, bytes)).toBeNull();
  for (let end = 0; end < bytes.length; end += 1)
    expect(problemOfAsset(path, bytes.subarray(0, end))).toMatch("not an image");
  expect(problemOfAsset(path, Buffer.concat([bytes, Buffer.from("<script>")]))).toMatch("not an image");
  for (const [other, written] of Object.entries(images))
    if (!other.endsWith(path.slice(1))) expect(problemOfAsset(path, Buffer.from(written, "base64"))).not.toBeNull();
});

it("needs a review of a WebP with another beginning", () => {
  for (const at of [0, 4, 8, 12]) {
    const bytes = Buffer.from(images["b.webp"], "base64");
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    expect(problemOfAsset("b.webp", bytes)).toMatch("not an image");
  }
});

it("needs a review of an image without an area, or of one that is too large to show", () => {
  const bytes = Buffer.from(images["a.gif"], "base64");
  for (const side of [0, 0xffff]) {
    bytes.writeUInt16LE(side, 6);
    expect(problemOfAsset("a.gif", bytes)).toMatch("too large");
  }
});

it.each(["a.pdf", "a.woff2", "a.mp4", "a.ico"])("needs a review of %s, whatever it contains", (path) => {
  expect(problemOfAsset(path, Buffer.from(images["a.png"], "base64"))).toMatch("needs a review");
});
