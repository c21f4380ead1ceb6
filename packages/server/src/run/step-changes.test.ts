import { createLogger } from "@emend/base/logger.ts";
import type { Overlay, Tree } from "@emend/tree";
import { expect, it } from "vitest";
import { countLines, followChanges } from "./step-changes.ts";

it.each([
  ["", "", { additions: 0, deletions: 0 }],
  ["", "a\nb\n", { additions: 2, deletions: 0 }],
  ["a\nb\n", "", { additions: 0, deletions: 2 }],
  ["a\nb\nc\n", "a\nx\nc\n", { additions: 1, deletions: 1 }],
  ["a\nb\nc\nd\n", "b\nd\ne", { additions: 1, deletions: 2 }],
  ["a\n".repeat(50), "a\n".repeat(49), { additions: 0, deletions: 1 }],
])("counts the lines that differ: %j to %j", (before, after, counted) => {
  expect(countLines(before, after)).toEqual(counted);
});

it("counts every line where nearly all differ", () => {
  const lines = (word: string) => Array.from({ length: 3_000 }, (_, at) => `${word} ${at}\n`).join("");
  expect(countLines(lines("old"), lines("new"))).toEqual({ additions: 3_000, deletions: 3_000 });
});

it("does not keep a step waiting for changes that cannot be read", async () => {
  const hanging = () => new Promise<never>(() => {});
  const overlay = { entries: () => [], diff: hanging } as unknown as Overlay;
  const changesOf = followChanges(
    { base: { read: hanging } as unknown as Tree, overlay },
    createLogger({ level: "silent" }),
  );
  const edits = [{ path: "a.md", mode: "100644", content: null }] as const;
  expect(await changesOf(edits, new AbortController().signal)).toBe(null);
});
