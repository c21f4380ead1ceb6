import { expect, test, vi } from "vitest";
import { createCopyFinder } from "./copied-text.ts";

const words = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => `w${(from + at) * 7_919}`).join(" ");

test("long addresses are not searched for, piece by piece, in all that was read", () => {
  const isCopy = createCopyFinder([words(0, 2_000)]);
  const search = vi.spyOn(String.prototype, "includes");
  const copies = [0, 1, 2].filter((at) =>
    isCopy(`https://known.test/${words(10_000 * (at + 1), 100).replaceAll(" ", "")}`),
  );
  const searches = search.mock.calls.length;
  search.mockRestore();
  expect(copies).toEqual([]);
  expect(searches).toBeLessThan(50);
  expect(isCopy(`https://known.test/${words(700, 5).replaceAll(" ", "-")}`)).toBe(true);
});
