import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

/** Room for the commands of a push of some hundred refs. A longer push may still be made, without forcing. */
const commandsBytesMax = 64 * 1024;
const commandsMsMax = 60_000;

/**
 * Whether a push names this branch. What cannot be read counts as yes: a compressed, signed or very long list of commands.
 * The body can still be read from its start.
 */
export async function mayMove(branch: string | null, headers: IncomingHttpHeaders, body: Readable): Promise<boolean> {
  if (branch === null || headers["content-encoding"] !== undefined) return true;
  const lines = await readCommands(body);
  // Some file systems ignore case.
  const ref = `refs/heads/${branch}`.toLowerCase();
  return lines === null || lines.some((line) => !isCommand.test(line) || line.toLowerCase().endsWith(` ${ref}`));
}

const isCommand = /^(?:shallow [0-9a-f]+|[0-9a-f]{40,64} [0-9a-f]{40,64} refs\/\S+)$/;

/** The lines before the pack, without the first one's capabilities. Null if they are not complete or too long. */
async function readCommands(body: Readable): Promise<readonly string[] | null> {
  const lines: string[] = [];
  let bytes = Buffer.alloc(0);
  let at = 0;
  const late = setTimeout(() => body.destroy(), commandsMsMax);
  try {
    while (bytes.length < commandsBytesMax) {
      const length = Number.parseInt(bytes.toString("latin1", at, at + 4), 16);
      if (bytes.length >= at + 4 && length === 0) return lines;
      if (bytes.length >= at + 4 && !(length > 4)) return null;
      if (bytes.length >= at + 4 && bytes.length >= at + length) {
        lines.push(bytes.toString("utf8", at + 4, at + length).replace(/(?:\0[\s\S]*|\n)$/, ""));
        at += length;
        continue;
      }
      const chunk = await nextChunk(body);
      if (chunk === null) return null;
      bytes = Buffer.concat([bytes, chunk]);
    }
    return null;
  } finally {
    clearTimeout(late);
    if (bytes.length > 0 && !body.destroyed) body.unshift(bytes);
  }
}

/** Null at the end. */
function nextChunk(body: Readable): Promise<Buffer | null> {
  const { promise, resolve } = Promise.withResolvers<Buffer | null>();
  const tryRead = () => {
    const chunk: Buffer | null = body.read();
    if (chunk !== null || body.readableEnded || body.destroyed) settle(chunk);
  };
  const end = () => settle(null);
  function settle(chunk: Buffer | null): void {
    body.off("readable", tryRead).off("end", end).off("close", end);
    resolve(chunk);
  }
  body.on("readable", tryRead).on("end", end).on("close", end);
  tryRead();
  return promise;
}
