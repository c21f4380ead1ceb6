import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type Endpoint, readPassword } from "./endpoint.ts";

/** What a postmaster says of itself in `postmaster.pid`. It may be dead: the file outlives a kill. */
export interface Postmaster {
  pid: number;
  endpoint: Endpoint;
}

/** Reads the file that Postgres alone writes and removes. */
export async function readPostmasterFile(homeDir: string): Promise<Postmaster | undefined> {
  const text = await readFile(join(homeDir, "cluster", "postmaster.pid"), "utf8").catch(() => "");
  // Lines: pid, data folder, start time, port, socket folder, address, shared memory, state.
  const [pid, , , port, runDir, address] = text.split("\n");
  if (!pid || !port) return undefined;
  if (runDir) return { pid: Number(pid), endpoint: { kind: "socket", runDir } };
  // Written in two goes: without an address yet it cannot be reached yet.
  if (!address) return undefined;
  return {
    pid: Number(pid),
    endpoint: { kind: "loopback", port: Number(port), password: await readPassword(homeDir) },
  };
}
