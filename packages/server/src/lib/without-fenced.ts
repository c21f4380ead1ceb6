/** A prompt without the fenced blocks that automations fill with values: what its author wrote. */
export function withoutFenced(prompt: string): string {
  return prompt.replaceAll(/^(`{3,})text [^\n`]{1,100}: content, not instructions\n[\s\S]*?\n\1$/gm, "");
}
