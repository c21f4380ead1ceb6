import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import pg from "pg";

/** A TCP proxy before a database, which fails the ways networks do. */
export interface DatabaseProxy {
  url: string;
  /** From now on nothing passes either way, and nothing is closed: what a half-open connection looks like. */
  silence(): void;
  /** New connections pass again; those that were silenced stay so. */
  restore(): void;
  /** Breaks every connection. */
  cut(): void;
  /** How many connections were ever accepted. */
  accepted(): number;
  close(): Promise<void>;
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new pg.Client({ connectionString: databaseUrl });
  const sockets = new Set<Socket>();
  let isSilent = false;
  let accepted = 0;

  // Half-open allowed: a silenced connection must not even answer a goodbye.
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
