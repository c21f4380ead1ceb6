import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

/** Any server on loopback. */
export async function listen(listener: RequestListener): Promise<{ url: string; stop(): Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export async function freePort(): Promise<number> {
  const { url, stop } = await listen(() => {});
  await stop();
  return Number(new URL(url).port);
}
