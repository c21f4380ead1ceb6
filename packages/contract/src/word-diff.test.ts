import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffWords, lineCharactersMax } from "./diff.ts";

const marked = (before: string, after: string) => {
  const words = diffWords(before, after);
  const show = (spans: readonly { text: string; isChanged: boolean }[]) =>
    spans.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join("");
  return words && [show(words.before), show(words.after)];
};

describe("the words of a changed line", () => {
  it("are marked where they changed, and neighbours by one mark", () => {
    expect(marked("Get an API token here.", "Get an access key here.")).toEqual([
      "Get an [API token] here.",
      "Get an [access key] here.",
    ]);
    expect(marked("see /guides/auth now", "see /security/auth now")).toEqual([
      "see /[guides]/auth now",
      "see /[security]/auth now",
    ]);
  });

  it("are left alone where the lines have little in common, or are endless", () => {
    expect(marked("one two three", "uno dos tres")).toBeNull();
    expect(marked("a ".repeat(500), "a ".repeat(501))).toBeNull();
    expect(marked(`${"a".repeat(lineCharactersMax)} b`, `${"a".repeat(lineCharactersMax)} c`)).toBeNull();
  });

  it("come back whole, whatever they are", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.string({ unit: "grapheme" }), (before, after) => {
        const words = diffWords(before, after);
        if (!words) return;
        expect(words.before.map(({ text }) => text).join("")).toBe(before);
        expect(words.after.map(({ text }) => text).join("")).toBe(after);
      }),
    );
  });
});
