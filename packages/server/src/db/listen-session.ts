import { Socket } from "node:net";
import pg from "pg";

/** One LISTEN connection, from its first round trip until it is lost. */
export interface ListenSession {
  /** When the last completed round trip started, by `performance.now()`. Notices committed before it have arrived. */
  confirmedAt(): number;
  /** Settles when the connection is lost, with the reason if known. */
  lost: Promise<Error | undefined>;
  close(): Promise<void>;
}

interface SessionOptions {
  url: string;
  channels: readonly string[];
  onNotice(channel: string, payload: string): void;
}

const roundTripEveryMs = 250;
const answerWithinMs = 900;
const openWithinMs = 3_000;

export async function openListenSession(options: SessionOptions): Promise<ListenSession> {
  // Our own socket, to destroy it: the driver's close waits for a response, which a half-open connection never sends.
  const socket = new Socket();
  const cut = () => void socket.destroy();
  const client = new pg.Client({
    connectionString: options.url,
    stream: () => socket,
    application_name: "emend listener",
    keepAlive: true,
  });
  const lost = whenLost(client);
  client.on("notification", ({ channel, payload }) => options.onNotice(channel, payload ?? ""));
  const openTimer = setTimeout(cut, openWithinMs);
  try {
    await client.connect();
    await client.query(options.channels.map((channel) => `listen ${client.escapeIdentifier(channel)}`).join(";"));
    const confirmedAt = await keepConfirming({ client, cut, lost });
    return { confirmedAt, lost, close: () => client.end() };
  } catch (error) {
    cut();
    throw error;
  } finally {
    clearTimeout(openTimer);
  }
}

function whenLost(client: pg.Client): Promise<Error | undefined> {
  return new Promise((resolve) => {
    let reason: Error | undefined;
    client.on("error", (error) => {
      reason = error;
    });
    client.on("end", () => resolve(reason));
  });
}

/** Makes a round trip every 250 ms. Destroys a connection that takes too long to answer: it is half-open. */
async function keepConfirming(session: {
  client: pg.Client;
  cut: () => void;
  lost: Promise<unknown>;
}): Promise<() => number> {
  const { client, cut, lost } = session;
  let confirmedAt = Number.NEGATIVE_INFINITY;
  let pendingSince: number | undefined;

  async function makeRoundTrip(): Promise<void> {
    const beganAt = performance.now();
    pendingSince = beganAt;
    await client.query("select 1");
    pendingSince = undefined;
    confirmedAt = beganAt;
  }

  function isOverdue(): boolean {
    return pendingSince !== undefined && performance.now() - pendingSince >= answerWithinMs;
  }

  function tick(): void {
    // Fails immediately if the session is closing, and ends a close that gets no response.
    if (pendingSince === undefined) makeRoundTrip().catch(cut);
    // After a busy event loop, the timer fires before the waiting response is read: read first.
    if (isOverdue()) setImmediate(() => isOverdue() && cut());
  }

  await makeRoundTrip();
  const timer = setInterval(tick, roundTripEveryMs);
  void lost.then(() => clearInterval(timer));
  return () => confirmedAt;
}
