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
 * flight. `sharesStatements`: as an old one, whose clients find each other's prepared statements.
 */
export async function startDatabaseProxy(
  databaseUrl: string,
  { sharesConnections = false, sharesStatements = false } = {},
): Promise<DatabaseProxy> {
  const target = new pg.Client({ connectionString: databaseUrl });
  const sockets = new Set<Socket>();
  let isSilent = false;
  let accepted = 0;
  const prepared = new Set<string>();

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
    else if (sharesStatements) client.pipe(withSharedStatements(prepared)).pipe(upstream).pipe(client);
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

/** A statement that any client prepared is prepared twice, which the server refuses. */
function withSharedStatements(prepared: Set<string>): Transform {
  let hasBegun = false;
  return eachMessage((message) => {
    // The first message has no type.
    const name = hasBegun && message[0] === 0x50 ? message.toString("utf8", 5, message.indexOf(0, 5)) : "";
    hasBegun = true;
    if (name === "") return [message];
    const isKnown = prepared.has(name);
    prepared.add(name);
    return isKnown ? [message, message] : [message];
  }, 0);
}

/** Passes on what a server sends to a client, without the notices that come while it is idle. */
function withoutIdleNotices(client: Socket): Transform {
  let isIdle = false;
  client.on("data", () => {
    isIdle = false;
  });
  return eachMessage((message) => {
    const type = String.fromCharCode(message[0] ?? 0);
    if (type === "Z") isIdle = true;
    return type === "A" && isIdle ? [] : [message];
  });
}

/** Every message begins with its type and its length, but a client's first one, whose length is at its start. */
function eachMessage(pass: (message: Buffer) => readonly Buffer[], firstLengthAt = 1): Transform {
  let rest = Buffer.alloc(0);
  let lengthAt = firstLengthAt;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= lengthAt + 4 && rest.length >= rest.readUInt32BE(lengthAt) + lengthAt) {
        const message = rest.subarray(0, rest.readUInt32BE(lengthAt) + lengthAt);
        rest = rest.subarray(message.length);
        lengthAt = 1;
        for (const passed of pass(message)) this.push(passed);
      }
      done();
    },
  });
}
