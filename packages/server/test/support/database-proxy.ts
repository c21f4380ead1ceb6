import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
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

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
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
    client.pipe(upstream).pipe(client);
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
