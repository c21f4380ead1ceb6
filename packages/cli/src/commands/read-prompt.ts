import type { Cli } from "../cli.ts";

/** The prompt as typed; `-` reads it from standard input. */
export async function readPrompt(cli: Cli, words: string): Promise<string> {
  if (words !== "-") return words;
  const chunks: Buffer[] = [];
  for await (const chunk of cli.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
