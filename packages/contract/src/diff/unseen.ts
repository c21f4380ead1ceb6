/**
 * Characters that a reader does not see, or that change what he sees around them: controls (but tab and newline),
 * bidirectional and zero-width formatting, tags. With the g flag; use it with `replace` and `split` alone.
 */
export const unseenCharacters = /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/gu;

/** What is shown in such a character's place. */
export function unseenName(character: string): string {
  // At the end of every line of many an honest file.
  if (character === "\r") return "CR";
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;
}
