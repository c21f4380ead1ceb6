import { openTestTrees, type TestTrees } from "@emend/testkit/test-tree.ts";
import { createOverlay } from "@emend/tree";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { applyEdits, formatReport, parseReport, revertAll } from "./report.ts";

it("is read back as it was written", () => {
  const name = fc.stringMatching(/^[a-z]{1,10}$/).filter((word) => word !== "files");
  const skipped = fc.record({
    path: fc.stringMatching(/^[a-z0-9/._-]{1,30}$/),
    line: fc.nat(10_000),
    reason: fc.string({ maxLength: 50 }).map((reason) => reason.replaceAll(/\s+/g, " ")),
  });
  const report = fc.record({
    files: fc.nat(),
    counts: fc.uniqueArray(fc.tuple(name, fc.nat()), { selector: ([word]) => word }).map((entries) => new Map(entries)),
    skipped: fc.array(skipped, { maxLength: 5 }),
    skippedMore: fc.nat(5),
  });
  fc.assert(fc.property(report, (written) => void expect(parseReport(formatReport(written))).toEqual(written)));
});

it("names a file whose name contains a line break or invisible characters", () => {
  const skipped = [{ path: "guides/od\u0001d\nna\u202eme.md", line: 3, reason: "lost" }];
  const { skipped: read } = parseReport(formatReport({ files: 0, counts: new Map(), skipped, skippedMore: 0 }));
  expect(read).toEqual([{ path: "guides/od\\u{1}d\\u{a}na\\u{202e}me.md", line: 3, reason: "lost" }]);
});

describe("apply edits", () => {
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
});
