import fc from "fast-check";

const character = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));

/**
 * Any characters of Unicode. `fc.string({ unit: "binary" })` makes the same, with a table of all of them that takes a
 * second and 150 MB.
 */
export function anyText(lengths: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.array(character, lengths).map((characters) => characters.join(""));
}
