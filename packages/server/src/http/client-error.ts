import type { Socket } from "node:net";

/** Answers what is not HTTP at all, which no route and no hook ever sees, in the same form as every other error. */
export function answerClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // An answer that has begun must not be continued with another one.
  const current = (socket as Socket & { _httpMessage?: { headersSent: boolean } | null })._httpMessage;
  if (error.code === "ECONNRESET" || !socket.writable || current?.headersSent) {
    socket.destroy();
    return;
  }
  const [status, message] = statusOf(error);
  const body = JSON.stringify({ error: message });
  socket.end(
    [
      `HTTP/1.1 ${status}`,
      "content-type: application/json; charset=utf-8",
      `content-length: ${Buffer.byteLength(body)}`,
      "cache-control: no-store",
      "emend-error: invalid_request",
      "connection: close",
      "",
      body,
    ].join("\r\n"),
  );
}

function statusOf(error: NodeJS.ErrnoException): [string, string] {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return ["431 Request Header Fields Too Large", "The request headers are too large."];
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return ["408 Request Timeout", "The request did not arrive in time."];
    default:
      return ["400 Bad Request", "The request is not valid HTTP."];
  }
}
