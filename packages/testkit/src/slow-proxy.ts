import { createServer, type IncomingMessage, request as requestHttp, type ServerResponse } from "node:http";
import { request as requestHttps } from "node:https";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

export interface SlowProxy {
  url: string;
  /** For every write from now on: how long before the forge gets it, and how long before its answer is passed on. */
  delays: { beforeMs: number; afterMs: number };
  /** The writes that it passed on. */
  writes: string[];
  close(): Promise<void>;
}

/**
 * Stands in front of a real forge and makes its writes slow: API requests and pushes. Like a server, it carries out what
 * it has received even if the client has left.
 */
export async function startSlowProxy(target: string): Promise<SlowProxy> {
  const origin = new URL(target);
  const forward = origin.protocol === "https:" ? requestHttps : requestHttp;

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = "GET", url: path = "/" } = request;
    const isWrite = !["GET", "HEAD"].includes(method) && !path.endsWith("/git-upload-pack");
    if (isWrite) {
      proxy.writes.push(`${method} ${path}`);
      await pause(proxy.delays.beforeMs);
    }
    const headers = { ...request.headers, host: origin.host };
    const passed = forward(new URL(path, origin), { method, headers }, async (answer) => {
      const parts: Buffer[] = [];
      for await (const part of answer) parts.push(part);
      if (isWrite) await pause(proxy.delays.afterMs);
      if (response.destroyed) return;
      const { "transfer-encoding": _, ...answered } = answer.headers;
      response.writeHead(answer.statusCode ?? 502, answered).end(Buffer.concat(parts));
    });
    passed.on("error", () => response.destroy());
    passed.end(Buffer.concat(chunks));
  }

  const server = createServer((request, response) => void handle(request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const proxy: SlowProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    delays: { beforeMs: 0, afterMs: 0 },
    writes: [],
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
