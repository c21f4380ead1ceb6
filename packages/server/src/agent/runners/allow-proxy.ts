import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";

export interface AllowProxy {
  /** Where it listens: a socket's path, or a port of this machine. */
  readonly port: number | null;
  /** `host:port` of what it refused, so far. */
  readonly refused: readonly string[];
  close(): Promise<void>;
}

interface Address {
  host: string;
  port: number;
}

/** An HTTP proxy that reaches one address and no other, by tunnel, or by plain HTTP where the address is plain itself. */
export async function startAllowProxy(input: {
  allowed: URL;
  /** Null: a free port of 127.0.0.1. */
  socketPath: string | null;
  /** The operator's own proxy. */
  via: string | null;
}): Promise<AllowProxy> {
  const allowed = addressOf(input.allowed);
  const refused: string[] = [];
  const open = new Set<Duplex>();
  const isAllowed = ({ host, port }: Address) => host === allowed.host && port === allowed.port;

  function keep(socket: Duplex): void {
    open.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => open.delete(socket));
  }

  const server = createServer((incoming, answer) => {
    const url = URL.parse(incoming.url ?? "");
    if (url?.protocol === "http:" && input.allowed.protocol === "http:" && isAllowed(addressOf(url))) {
      forward(incoming, answer, url);
      return;
    }
    note(url ? `${addressOf(url).host}:${addressOf(url).port}` : (incoming.url ?? ""));
    answer.writeHead(403, { "content-type": "text/plain", connection: "close" });
    answer.end("This sandbox reaches its model and nothing else.\n");
  });
  server.on("connect", (incoming: IncomingMessage, client: Duplex, head: Buffer) => {
    keep(client);
    const target = URL.parse(`http://${incoming.url}`);
    const address = target ? { host: bare(target.hostname), port: Number(target.port || 80) } : null;
    if (!address || !isAllowed(address)) {
      note(incoming.url ?? "");
      client.end("HTTP/1.1 403 Forbidden\r\nconnection: close\r\n\r\n");
      return;
    }
    dial(address, input.via, (far) => {
      if (far === null) {
        client.end("HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n");
        return;
      }
      keep(far);
      client.write("HTTP/1.1 200 Connection Established\r\n\r\n");
      far.write(head);
      far.pipe(client);
      client.pipe(far);
      client.on("close", () => far.destroy());
      far.on("close", () => client.destroy());
    });
  });
  server.on("connection", keep);

  function note(target: string): void {
    if (refused.length < 100) refused.push(target.slice(0, 200));
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    const ready = () => resolve();
    if (input.socketPath === null) server.listen(0, "127.0.0.1", ready);
    else server.listen(input.socketPath, ready);
  });
  const address = server.address();
  return {
    port: typeof address === "object" && address ? address.port : null,
    refused,
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

function forward(incoming: IncomingMessage, answer: ServerResponse, url: URL): void {
  const headers = { ...incoming.headers };
  delete headers["proxy-connection"];
  const onward = request(url, { method: incoming.method, headers }, (far) => {
    answer.writeHead(far.statusCode ?? 502, far.headers);
    far.pipe(answer);
  });
  onward.on("error", () => answer.destroy());
  incoming.pipe(onward);
}

/** A connection to the address, through the operator's proxy where there is one; null where there is none to be had. */
function dial(address: Address, via: string | null, then: (socket: Duplex | null) => void): void {
  const proxy = via === null || isLoopback(address.host) ? null : URL.parse(via);
  if (proxy === null) {
    const socket: Socket = connect(address.port, address.host);
    const fail = () => then(null);
    socket.once("error", fail);
    socket.once("connect", () => {
      socket.off("error", fail);
      then(socket);
    });
    return;
  }
  const login = decodeURIComponent(proxy.username) + (proxy.password && `:${decodeURIComponent(proxy.password)}`);
  const asked = request({
    ...addressOf(proxy),
    method: "CONNECT",
    path: `${address.host}:${address.port}`,
    ...(login && { headers: { "proxy-authorization": `Basic ${Buffer.from(login).toString("base64")}` } }),
  });
  asked.once("connect", (reply, socket) => then(reply.statusCode === 200 ? socket : null));
  asked.once("response", () => then(null));
  asked.once("error", () => then(null));
  asked.end();
}

function addressOf(url: URL): Address {
  const usual = url.protocol === "https:" ? 443 : 80;
  return { host: bare(url.hostname), port: Number(url.port || usual) };
}

function bare(hostname: string): string {
  return hostname.toLowerCase().replace(/^\[|\]$/g, "");
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || host.startsWith("127.");
}
