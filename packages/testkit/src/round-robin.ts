import { createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";

interface PassedRequest {
  method: string;
  path: string;
  /** The server that got the request. */
  server: number;
}

/** A round-robin reverse proxy. It streams responses without buffering. */
export async function startRoundRobin(
  urls: readonly string[],
): Promise<{ url: string; counts: number[]; passed: PassedRequest[]; close(): void }> {
  const counts = urls.map(() => 0);
  const passed: PassedRequest[] = [];
  let turn = 0;
  const server = createServer((incoming, outgoing) => {
    const index = turn++ % urls.length;
    counts[index] = (counts[index] ?? 0) + 1;
    passed.push({ method: incoming.method ?? "", path: incoming.url?.split("?", 1)[0] ?? "", server: index });
    const forward = httpRequest(
      `${urls[index]}${incoming.url}`,
      { method: incoming.method ?? "GET", headers: incoming.headers },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
        answer.pipe(outgoing);
      },
    );
    forward.on("error", () => outgoing.destroy());
    outgoing.on("close", () => forward.destroy());
    incoming.pipe(forward);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    passed,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
