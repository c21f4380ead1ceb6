import { once } from "node:events";
import { type AddressInfo, connect } from "node:net";
import { afterAll, expect, it } from "vitest";
import { createHttpServer } from "./app.ts";

const server = createHttpServer(
  (_request, response) => response.writeHead(401).end("no"),
  () => "http://emend.test",
);
server.listen(0, "127.0.0.1");
await once(server, "listening");
const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
afterAll(() => server.close());

it("disconnects a client that keeps sending an unread body", async () => {
  const socket = connect(Number(new URL(address).port), "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk) => {
    answer += chunk;
  });
  socket.on("error", () => {});
  socket.write(
    "POST /refused HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n",
  );
  const dripping = setInterval(() => socket.write("x".repeat(1024)), 20);
  // Not `once` of node:events: it would throw on a reset connection.
  await new Promise((resolve) => socket.once("close", resolve));
  clearInterval(dripping);
  expect(answer).toContain("401");
});

it("keeps the connection of a client whose small body arrived whole", async () => {
  const send = () =>
    fetch(`${address}/refused`, { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
  expect((await send()).status).toBe(401);
  expect((await send()).status).toBe(401);
});
