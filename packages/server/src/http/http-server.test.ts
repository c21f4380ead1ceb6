import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { expect, it } from "vitest";
import { createHttpServer } from "./app.ts";

it("a client that does not read a large response is disconnected, and the response is freed", async () => {
  const { promise: begun, resolve } = Promise.withResolvers<ServerResponse>();
  const server = createHttpServer(
    (_request, response) => {
      response.end(Buffer.alloc(32 * 1024 * 1024));
      resolve(response);
    },
    () => "http://127.0.0.1",
    { silenceMsMax: 200 },
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => {});
  socket.pause();
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
  const response = await begun;
  await once(response, "close");
  expect(response.writableFinished).toBe(false);
  socket.destroy();
  server.close();
});
