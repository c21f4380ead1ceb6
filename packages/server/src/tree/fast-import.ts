import type { MirrorContext } from "./mirror-context.ts";

const timeMsMax = 5 * 60_000;

/** Feeds `git fast-import` a stream that must be whole, and returns what it printed. Call it with the store's lock held. */
export async function fastImport(
  context: MirrorContext,
  input: Iterable<Buffer | string>,
  descriptor: number,
  signal: AbortSignal,
): Promise<string> {
  const output = await context.git.must(
    {
      gitDir: context.place.gitDir,
      // A run that is repeated replaces its commit.
      args: ["fast-import", "--quiet", "--force"],
      input: framed(input),
      timeMsMax,
      outputBytesMax: 64 * 1024,
      descriptors: [descriptor],
    },
    signal,
  );
  return output.toString("latin1");
}

/** Without the last word a stream that broke off would be taken for a whole one. */
function* framed(input: Iterable<Buffer | string>): Iterable<Buffer | string> {
  yield "feature done\n";
  yield* input;
  yield "done\n";
}

export function* data(content: Buffer): Iterable<Buffer | string> {
  yield `data ${content.length}\n`;
  // An empty chunk would end the stream.
  if (content.length > 0) yield content;
  yield "\n";
}

/** Every byte but the plainest as an octal escape: paths are bytes, and may hold quotes and line feeds. */
export function quotePath(path: string): string {
  let quoted = '"';
  for (const byte of Buffer.from(path, "utf8")) {
    const plain = byte >= 0x20 && byte < 0x7f && byte !== 0x22 && byte !== 0x5c;
    quoted += plain ? String.fromCharCode(byte) : `\\${byte.toString(8).padStart(3, "0")}`;
  }
  return `${quoted}"`;
}
