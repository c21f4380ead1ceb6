import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";
import pg from "pg";

/** A TCP proxy in front of a database. It simulates network faults. */
export interface DatabaseProxy {
  url: string;
  /** Simulates half-open connections: nothing passes either way, and nothing is closed. */
  silence(): void;
  /** New connections work again. Silenced ones stay silent. */
  restore(): void;
  /** Breaks every connection. */
  cut(): void;
  /** The number of connections accepted so far. */
  accepted(): number;
  close(): Promise<void>;
}

/**
 * `sharesConnections`: as a pooler in transaction mode, which passes a notice on only while its client has a query in
 * flight.
 */
export async function startDatabaseProxy(
  databaseUrl: string,
  { sharesConnections = false } = {},
): Promise<DatabaseProxy> {
  const target = new pg.Client({ connectionString: databaseUrl });
  const sockets = new Set<Socket>();
  let isSilent = false;
  let accepted = 0;

  // Half-open is allowed: a silenced connection must not even answer a FIN.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    accepted += 1;
    track(client);
    if (isSilent) return;
    const upstream = target.host.startsWith("/")
      ? connect(`${target.host}/.s.PGSQL.${target.port}`)
      : connect(target.port, target.host);
    track(upstream);
    if (sharesConnections) client.pipe(upstream).pipe(withoutIdleNotices(client)).pipe(client);
    else client.pipe(upstream).pipe(client);
    client.on("close", () => upstream.destroy());
    upstream.on("close", () => client.destroy());
  });

  function track(socket: Socket): void {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgresql://${encodeURIComponent(target.user ?? "")}:${encodeURIComponent(target.password ?? "")}@127.0.0.1:${port}/${target.database}`,
    silence() {
      isSilent = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    restore() {
      isSilent = false;
    },
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    accepted: () => accepted,
    async close() {
      server.close();
      for (const socket of sockets) socket.destroy();
      if (server.listening) await once(server, "close");
    },
  };
}

/** Every message of the server begins with its type and its length. */
function withoutIdleNotices(client: Socket): Transform {
  let isIdle = false;
  let rest = Buffer.alloc(0);
  client.on("data", () => {
    isIdle = false;
  });
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
        const message = rest.subarray(0, rest.readUInt32BE(1) + 1);
        rest = rest.subarray(message.length);
        const type = String.fromCharCode(message[0] ?? 0);
        if (type === "Z") isIdle = true;
        if (!(type === "A" && isIdle)) this.push(message);
      }
      done();
    },
  });
}
