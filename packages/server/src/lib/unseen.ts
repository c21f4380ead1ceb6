/**
 * Characters that a reader does not see, or that change what he sees around them: controls (but tab and newline),
 * bidirectional and zero-width formatting, tags. With the g flag; use it with `replace` alone.
 */
export const unseenCharacters = /(?![\t\n])[\p{Cc}\p{Cf}\u2028\u2029]/gu;
