/** Text of a repository, a model or a server may hold control characters that move the cursor or forge lines. */
export function safeText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g, (character) =>
    character === "\n" || character === "\t" ? " " : "\ufffd",
  );
}
