import type { ServerResponse } from "node:http";

export interface Answer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export function send(response: ServerResponse, answer: Answer): void {
  response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
  response.end(answer.body === undefined ? undefined : JSON.stringify(answer.body));
}
