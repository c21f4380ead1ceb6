import { once } from "node:events";
import { createServer } from "node:http";
import { pipeline } from "node:stream/promises";
import type { Fetch } from "@emend/base/network.ts";

const requestsMax = 20_000;
const requestMsMax = 120_000;

/**
 * The only way out of the sandbox while packages are installed: reads from one registry, on a socket. It sends no body
 * and no credential, and follows no redirect, so a lock file that names another address leads nowhere.
 */
export async function startRegistryGateway(
  deps: { fetch: Fetch },
  { socketPath, registry, bytesMax }: { socketPath: string; registry: string; bytesMax: number },
): Promise<{ close(): Promise<void> }> {
  let requests = 0;
  let bytes = 0;
  async function* bounded(body: AsyncIterable<Uint8Array> | readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
    for await (const chunk of body) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) throw new Error("the packages are too large");
      yield chunk;
    }
  }
  const server = createServer((request, response) => {
    const refuse = (status: number) => void response.writeHead(status).end();
    requests += 1;
    const path = request.url ?? "";
    // An absolute address is a request to a proxy, which this is not.
    if (request.method !== "GET" || !path.startsWith("/") || path.startsWith("//")) return refuse(403);
    if (requests > requestsMax || bytes > bytesMax) return refuse(429);
    const url = URL.parse(`${registry.replace(/\/$/, "")}${path}`);
    if (url === null || !url.href.startsWith(registry)) return refuse(403);
    const accept = request.headers.accept ?? "*/*";
    const init = {
      method: "GET",
      headers: { accept },
      redirect: "manual",
      signal: AbortSignal.timeout(requestMsMax),
    } as const;
    deps
      .fetch(url.href, init)
      .then(async ({ status, headers, body }) => {
        if (status >= 300 && status < 400) return refuse(502);
        response.writeHead(status, { "content-type": headers.get("content-type") ?? "application/octet-stream" });
        await pipeline(bounded(body ?? []), response);
      })
      .catch(() => (response.headersSent ? response.destroy() : refuse(502)));
  });
  server.listen(socketPath);
  await once(server, "listening");
  return {
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
