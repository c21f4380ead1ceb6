import type { OutgoingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";

export interface CgiHead {
  status: number;
  headers: OutgoingHttpHeaders;
  /** What came behind the head in the same breath. */
  rest: Buffer;
}

const headBytesMax = 16 * 1024;

/** Reads a CGI program's head and leaves the stream paused behind it; null where it ends, or goes on, without one. */
export async function readCgiHeaders(stream: Readable): Promise<CgiHead | null> {
  let bytes = Buffer.alloc(0);
  const { promise, resolve } = Promise.withResolvers<CgiHead | null>();
  function onData(chunk: Buffer) {
    bytes = Buffer.concat([bytes, chunk]);
    const end = bytes.indexOf("\r\n\r\n");
    if (end !== -1) settle(parseHead(bytes.subarray(0, end).toString("latin1"), bytes.subarray(end + 4)));
    else if (bytes.length > headBytesMax) settle(null);
  }
  function onEnd() {
    settle(null);
  }
  function settle(head: CgiHead | null) {
    stream.off("data", onData).off("end", onEnd).off("error", onEnd).pause();
    resolve(head);
  }
  stream.on("data", onData).on("end", onEnd).on("error", onEnd);
  return promise;
}

function parseHead(text: string, rest: Buffer): CgiHead {
  const headers: OutgoingHttpHeaders = {};
  let status = 200;
  for (const line of text.split("\r\n")) {
    const colon = line.indexOf(":");
    if (colon === -1) continue;
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === "status") status = Number.parseInt(value, 10) || 500;
    else headers[name] = value;
  }
  return { status, headers, rest };
}
