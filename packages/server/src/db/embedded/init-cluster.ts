import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, open, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Binaries } from "./binaries.ts";
import type { Home } from "./home.ts";
import { cannotStart, chownTo, type RunUser, runTool } from "./run-tool.ts";

/** For the supervisor. Emend itself connects as an ordinary role that owns only its database. */
export const superuser = "postgres";
const stagingPrefix = "new-";
/** Only tests start an older one. */
const builtinLocaleMajor = 17;

interface InitOptions {
  binaries: Binaries;
  home: Pick<Home, "dir" | "user">;
  signal: AbortSignal;
  isThrowAway?: boolean;
}

/**
 * Creates `cluster` and `password` in the home folder if they do not exist. Both are created aside and moved in, so a
 * kill leaves nothing or a complete cluster. The caller holds the home's lock.
 */
export async function ensureCluster(options: InitOptions): Promise<void> {
  const { dir: homeDir, user } = options.home;
  if (existsSync(join(homeDir, "cluster"))) return;
  assertHasName(user);
  await sweepStaging(homeDir);
  const stagingDir = join(homeDir, stagingPrefix + randomBytes(6).toString("hex"));
  await mkdir(stagingDir, { mode: 0o700 });
  await chownTo(user, stagingDir);
  await initialize(options, stagingDir);
  await rename(join(stagingDir, "password"), join(homeDir, "password"));
  await rename(join(stagingDir, "cluster"), join(homeDir, "cluster"));
  await rm(stagingDir, { recursive: true });
  await syncDir(homeDir);
}

async function initialize({ binaries, home, signal, isThrowAway }: InitOptions, dir: string): Promise<void> {
  const passwordFile = join(dir, "password");
  await writeFile(passwordFile, randomBytes(24).toString("base64url"), { mode: 0o600, flush: true });
  await chownTo(home.user, passwordFile);
  const args = [
    ["-D", join(dir, "cluster")],
    ["--username", superuser, "--pwfile", passwordFile, "--auth-local=trust", "--auth-host=scram-sha-256"],
    // The built-in locale, so that text sorts the same wherever the files are moved.
    ["--encoding=UTF8", "--locale=C"],
    Number(binaries.major) < builtinLocaleMajor ? [] : ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"],
    isThrowAway ? ["--no-sync"] : [],
  ].flat();
  const result = await runTool({ user: home.user, signal, timeoutMs: 120_000 }, binaries.initdb, args);
  if (result.kind === "failed") throw cannotStart(`initdb failed: ${result.words}`);
}

/** initdb looks up its user, and fails without advice if there is none. */
export function assertHasName(user: RunUser, lookUp: () => unknown = userInfo): void {
  if (user.isOther) return;
  try {
    lookUp();
  } catch (cause) {
    throw cannotStart(`user id ${user.uid} has no entry in the password database, which initdb needs`, {
      advice: `Add one (in /etc/passwd: "emend:x:${user.uid}:${user.gid}::/:/bin/false"), or set EMEND_DATABASE_URL.`,
      cause,
    });
  }
}

async function sweepStaging(homeDir: string): Promise<void> {
  for (const name of await readdir(homeDir)) {
    if (name.startsWith(stagingPrefix)) await rm(join(homeDir, name), { recursive: true, force: true });
  }
}

async function syncDir(dir: string): Promise<void> {
  const handle = await open(dir, "r");
  await handle.sync().finally(() => handle.close());
}

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
