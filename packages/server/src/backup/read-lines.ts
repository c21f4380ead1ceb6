import { AppError } from "../errors.ts";

/** More than any row of ours takes, and less than the longest text that JavaScript can hold. */
export const lineBytesMax = 256 * 1024 * 1024;

/** Lines by their line feeds alone: JSON has other separators of lines within its strings, as they are. */
export async function* readLines(
  chunks: AsyncIterable<Buffer>,
  options: { file: string; lineBytesMax: number },
): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(10); end !== -1; end = chunk.indexOf(10, from)) {
      yield Buffer.concat([...parts, chunk.subarray(from, end)]).toString("utf8");
      [parts, bytes, from] = [[], 0, end + 1];
    }
    parts.push(chunk.subarray(from));
    bytes += chunk.length - from;
    if (bytes > options.lineBytesMax) {
      throw new AppError("invalid_request", {
        publicMessage: `${options.file} holds a row of more than ${options.lineBytesMax} bytes: it is no table of Emend's`,
      });
    }
  }
  if (bytes > 0) yield Buffer.concat(parts).toString("utf8");
}
