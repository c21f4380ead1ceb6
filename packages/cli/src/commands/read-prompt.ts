import { type Cli, CliError } from "../cli.ts";

/** The prompt as typed; `-` reads it from standard input. */
export async function readPrompt(cli: Cli, words: string): Promise<string> {
  if (words !== "-") return words;
  if (cli.stdin.isTTY) cli.stderr.write("Type the prompt; Ctrl-D on a line of its own ends it.\n");
  const text = await readInput(cli);
  if (text.trim() === "") throw new CliError("usage", "the prompt is empty: nothing came on standard input");
  return text;
}

export async function readInput(cli: Cli): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of cli.stdin) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks).toString();
}
