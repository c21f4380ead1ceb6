// Reads endless responses, for each protocol of a model and of a forge, and prints how much memory this process gained.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { readBody } from "@emend/base/network.ts";
import { type FarModel, openFarModel, protocols, sameEndpoint } from "@emend/testkit/far-model.ts";

const mebibyte = 2 ** 20;
const growthBytesMax = 200 * mebibyte;
const sentBytesMax = 1024 * mebibyte;
const chunk = Buffer.alloc(mebibyte, "x");

let sent = 0;
const server = createServer((request, response) => {
  request.resume();
  sent = 0;
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.write("data: ");
  const send = () => {
    if (response.destroyed) return;
    sent += chunk.length;
    if (sent > sentBytesMax) response.end();
    else response.write(chunk, send);
  };
  send();
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

async function measured(name: string, read: () => Promise<unknown>): Promise<void> {
  globalThis.gc?.();
  const before = process.memoryUsage.rss();
  let peak = before;
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 5);
  const isRefused = await read().then(
    () => false,
    () => true,
  );
  clearInterval(sampler);
  peak = Math.max(peak, process.memoryUsage.rss());
  const grown = Math.round((peak - before) / mebibyte);
  console.log(`${name} +${grown} MiB, ${Math.round(sent / mebibyte)} MiB sent`);
  if (!isRefused || peak - before > growthBytesMax) process.exitCode = 1;
}

const endpoints = sameEndpoint({ apiKey: "sk-test", baseUrl: url });
for (const name of protocols) {
  const model = await openFarModel({ endpoints } as unknown as FarModel, name);
  const turn = { system: "x", messages: [{ role: "user", text: "x" }] as const, tools: [] };
  await measured(name, () => model.nextTurn(turn, AbortSignal.timeout(60_000)));
}
await measured("a forge", async () => readBody((await fetch(url)).body, 8 * mebibyte));
server.closeAllConnections();
server.close();
