import { expect, test } from "vitest";
import { createSealer } from "./secrets.ts";

const sealer = createSealer("the first secret of this installation");

test("opens what it sealed, for the one it was sealed for", () => {
  const sealed = sealer.seal("ghp_tökén", "project/a/credential");
  expect(sealer.open(sealed, "project/a/credential")).toBe("ghp_tökén");
  expect(() => sealer.open(sealed, "project/b/credential")).toThrow();
  expect(sealed.includes("ghp_")).toBe(false);
});

test("seals the same text differently each time", () => {
  expect(sealer.seal("x", "c").equals(sealer.seal("x", "c"))).toBe(false);
});

test("refuses what was changed, at any byte", () => {
  const sealed = sealer.seal("token", "c");
  for (let at = 0; at < sealed.length; at += 1) {
    const changed = Buffer.from(sealed);
    changed.writeUInt8(changed.readUInt8(at) ^ 1, at);
    expect(() => sealer.open(changed, "c")).toThrow();
  }
  expect(() => sealer.open(sealed.subarray(0, -1), "c")).toThrow();
  // Too short for its parts, so it is no sealed text at all.
  for (let length = 0; length <= sealed.length - "token".length - 1; length += 1)
    expect(() => sealer.open(sealed.subarray(0, length), "c")).toThrow(/another EMEND_SECRET/);
});

test("after rotation a former secret still opens, and no longer seals", () => {
  const sealed = sealer.seal("token", "c");
  const rotated = createSealer("the second secret of this installation", ["the first secret of this installation"]);
  expect(rotated.open(sealed, "c")).toBe("token");
  expect(() => sealer.open(rotated.seal("token", "c"), "c")).toThrow(/another EMEND_SECRET/);
});
