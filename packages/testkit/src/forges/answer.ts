import type { ServerResponse } from "node:http";

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
  /** Sent instead of the body. */
  text?: string;
}

export function send(response: ServerResponse, answer: Answer): void {
  const type = answer.text === undefined ? "application/json" : "text/plain";
  response.writeHead(answer.status, { "content-type": type, ...answer.headers });
  if (answer.text !== undefined) return void response.end(answer.text);
  response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
}
