// The reference of `get-job.ts`: plain node:http that sends the given bytes.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const { headers, body } = JSON.parse(process.argv[2] ?? "{}") as { headers: Record<string, string>; body: string };
const server = createServer((_request, response) => {
  response.writeHead(200, headers);
  response.end(body);
});
server.listen(0, "127.0.0.1", () => {
  console.log(JSON.stringify({ port: (server.address() as AddressInfo).port }));
});
process.stdin.resume().on("end", () => process.exit(0));
