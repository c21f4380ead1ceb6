import { expect, it } from "vitest";
import { unseenCharacters, unseenName } from "./diff.ts";

it("names what would not be seen, and leaves every letter, tab and newline", () => {
  const shown = (text: string) => text.replace(unseenCharacters, (character) => `<${unseenName(character)}>`);
  expect(shown("a\u202eb\u200bc\u0000\r\n\t\u{e0041}\u2028é שלום 👩‍💻")).toBe(
    "a<U+202E>b<U+200B>c<U+0000><CR>\n\t<U+E0041><U+2028>é שלום 👩<U+200D>💻",
  );
});
