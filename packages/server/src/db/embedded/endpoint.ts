import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { superuser } from "./init-cluster.ts";

/** Where a postmaster listens: a socket's folder, or a local port. */
export type Endpoint = { kind: "socket"; runDir: string } | { kind: "loopback"; port: number; password: string };

/** The role and database that Emend connects with. */
export const ownerRole = "emend";
export const databaseName = "emend";

const socketPort = 5432;
/** The system allows 103 to 107, depending on the platform. */
const socketPathBytesMax = 100;

/** Whether the socket's path is short enough; otherwise a port is used. */
export function fitsSocket(homeDir: string): boolean {
  return Buffer.byteLength(join(homeDir, "run", `.s.PGSQL.${socketPort}`)) <= socketPathBytesMax;
}

export function ownerUrl(endpoint: Endpoint): string {
  return urlFor(endpoint, ownerRole, databaseName);
}

export function superuserUrl(endpoint: Endpoint): string {
  return urlFor(endpoint, superuser, "postgres");
}

function urlFor(endpoint: Endpoint, role: string, database: string): string {
  if (endpoint.kind === "socket") {
    return `postgresql://${role}@${encodeURIComponent(endpoint.runDir)}:${socketPort}/${database}`;
  }
  return `postgresql://${role}:${endpoint.password}@127.0.0.1:${endpoint.port}/${database}`;
}

export async function readPassword(homeDir: string): Promise<string> {
  return (await readFile(join(homeDir, "password"), "utf8")).trim();
}
