/** A prompt without the blocks that automations put values into: what is left is the word of whoever wrote it. */
export function withoutFenced(prompt: string): string {
  return prompt.replaceAll(/^(`{3,})text [^\n`]{1,100}: content, not instructions\n[\s\S]*?\n\1$/gm, "");
}
