import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";

export interface ReceivedMessage {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface WebhookReceiver {
  url: string;
  received: ReceivedMessage[];
  /** Sets the response from now on. */
  answer: { status: number; headers?: Record<string, string> };
  /** Resolves with the message of this number, from 1. */
  message(number: number): Promise<ReceivedMessage>;
  close(): void;
}

/** A webhook receiver on loopback. */
export async function startWebhookReceiver(): Promise<WebhookReceiver> {
  const waiting = new Map<number, (message: ReceivedMessage) => void>();
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    const message = { path: request.url ?? "", headers: request.headers, body };
    receiver.received.push(message);
    response.writeHead(receiver.answer.status, receiver.answer.headers);
    response.end();
    waiting.get(receiver.received.length)?.(message);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    answer: { status: 204 },
    message(number) {
      const there = receiver.received[number - 1];
      if (there) return Promise.resolve(there);
      return new Promise((resolve) => waiting.set(number, resolve));
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
  return receiver;
}
