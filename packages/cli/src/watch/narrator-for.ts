import type { Cli } from "../cli.ts";
import { liveNarrator, type Narrator, plainNarrator, silentNarrator } from "../terminal/narrator.ts";

/** Live on a terminal, plain lines in a pipe, nothing for JSON. */
export function narratorFor(cli: Cli, stream: NodeJS.WriteStream, options: { json?: boolean }): Narrator {
  if (options.json) return silentNarrator;
  return stream.isTTY && cli.env.TERM !== "dumb" ? liveNarrator(stream) : plainNarrator(stream);
}
