/** Marks text for a model as material, not as an instruction. */
export function inContent(words: string, text: string): string {
  return `${words}\n<content>\n${withoutMark(text)}\n</content>`;
}

/** Makes sure that the text cannot end the mark. */
export function withoutMark(text: string): string {
  return text.replaceAll(/<(\/?\s*content)/gi, "‹$1");
}
