import { once } from "node:events";
import type { Cli } from "../cli.ts";

/** Returns on Enter, at the end of the input, or on Ctrl-C. */
export async function untilDismissed(cli: Cli): Promise<void> {
  if (cli.signal.aborted) return;
  const listening = new AbortController();
  const options = { signal: AbortSignal.any([cli.signal, listening.signal]) };
  cli.stdin.resume();
  try {
    await Promise.race([once(cli.stdin, "data", options), once(cli.stdin, "end", options)]);
  } catch (error) {
    if (!cli.signal.aborted) throw error;
  } finally {
    listening.abort();
    cli.stdin.pause();
  }
}
