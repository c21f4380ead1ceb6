import { afterAll, beforeAll, expect, it } from "vitest";
import { openTestTrees, type TestTrees } from "../../test/support/test-tree.ts";
import { createOverlay } from "../tree/overlay.ts";
import { applyEdits, revertAll } from "./apply-edits.ts";

let trees: TestTrees;
beforeAll(async () => {
  trees = await openTestTrees();
});
afterAll(() => trees.close());

const bytes = (text: string) => new TextEncoder().encode(text);

it("applies nothing when the overlay refuses one of the edits", async () => {
  const overlay = await createOverlay(await trees.open({ "a.md": "a", "b.md": "b" }));
  await overlay.set("b.md", Buffer.from("earlier"));
  const before = overlay.entries();
  const edits = new Map([
    ["a.md", null],
    ["b.md", bytes("new")],
    ["c.md", bytes("c")],
    ["../d.md", bytes("d")],
  ]);
  await expect(applyEdits(overlay, edits)).rejects.toMatchObject({ code: "invalid_request" });
  expect(overlay.entries()).toEqual(before);
});

it("lets a page become a folder, and takes that back", async () => {
  const base = await trees.open({ "auth.md": "a" });
  const overlay = await createOverlay(base);
  await applyEdits(
    overlay,
    new Map([
      ["auth.md/index.md", bytes("a")],
      ["auth.md", null],
    ]),
  );
  expect(overlay.entries().map(({ path }) => path)).toEqual(["auth.md", "auth.md/index.md"]);
  await revertAll(overlay, base);
  expect(overlay.entries()).toEqual([]);
});
