import { Socket } from "node:net";
import pg from "pg";

/** A connection that is held open: its end is how the supervisor learns that something happened. */
export interface Sentinel {
  client: pg.Client;
  lost: Promise<void>;
}

export type Reached = { kind: "connected"; sentinel: Sentinel } | { kind: "busy" } | { kind: "absent" };

/** Tries one connection. Busy: a postmaster is there, but starts, stops, recovers or is full. */
export async function reachPostmaster(url: string, signal?: AbortSignal): Promise<Reached> {
  const socket = new Socket();
  const client = new pg.Client({
    stream: () => socket,
    connectionString: url,
    application_name: "emend supervisor",
    connectionTimeoutMillis: 10_000,
  });
  const lost = new Promise<void>((resolve) => client.on("end", () => resolve()));
  // An "error" without a listener would end the process.
  client.on("error", () => {});
  const giveUp = () => socket.destroy();
  signal?.addEventListener("abort", giveUp);
  try {
    await client.connect();
    return { kind: "connected", sentinel: { client, lost } };
  } catch (error) {
    const code = (error as { code?: string }).code;
    void client.end();
    return { kind: code === "57P03" || code === "53300" ? "busy" : "absent" };
  } finally {
    signal?.removeEventListener("abort", giveUp);
  }
}
