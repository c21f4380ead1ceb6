import { anyText } from "@emend/testkit/any-text.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { boundOutput, fitItems } from "./tool.ts";

it("leaves a text within the bound alone", () => {
  expect(boundOutput("a\nb\n", 4)).toBe("a\nb\n");
});

it("cuts at a line's end and counts what is missing", () => {
  const lines = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  const cut = boundOutput(lines.join("\n"), 200);
  const shown = cut.split("\n");
  const last = shown.pop();
  expect(shown).toEqual(lines.slice(0, shown.length));
  expect(last).toBe(`… ${100 - shown.length} more lines; ask for less at a time`);
});

it("cuts a single long line between characters", () => {
  const cut = boundOutput("é".repeat(1_000), 200);
  expect(cut).toMatch(/^é+\n… 1 more line; ask for less at a time$/);
});

it("stays within the bound, whatever the text", () => {
  fc.assert(
    fc.property(anyText({ maxLength: 2_000 }), fc.integer({ min: 150, max: 500 }), (text, bytesMax) => {
      const cut = boundOutput(text, bytesMax);
      expect(Buffer.byteLength(cut)).toBeLessThanOrEqual(bytesMax);
    }),
  );
});

it("counts what was cut, for any limit", () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ maxLength: 60 }), { minLength: 1, maxLength: 200, size: "max" }),
      fc.integer({ min: 400, max: 3_000 }),
      (words, bytesMax) => {
        const items = words.map((word, index) => `${index}:${word.replaceAll(/\s/g, "_")}`);
        const { text, shown } = fitItems(items, bytesMax, (count) =>
          count < items.length ? `… ${items.length - count} more` : "",
        );
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bytesMax);
        const lines = text.split("\n");
        const [, left = "0"] = /^… (\d+) more$/.exec(lines.at(-1) ?? "") ?? [];
        expect(lines.length - (left === "0" ? 0 : 1) + Number(left)).toBe(items.length);
        expect(shown + Number(left)).toBe(items.length);
      },
    ),
  );
});
