import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { openSync, readlinkSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { RunUser } from "../../server/src/db/embedded/run-tool.ts";

/** A machine of the cluster: a network namespace of its own, or else only an address of its own. */
export interface Machine {
  name: string;
  address: string;
  /** Starts a program there, as an ordinary user. Its output goes to a file. */
  start(program: string, args: readonly string[], logFile: string): ChildProcess;
  /** Unplugs its network cable, and plugs it in again. Null without namespaces. */
  cable: { unplug(): void; plug(): void } | null;
}

/** The network of deploy/cluster. Without namespaces, its addresses are those of loopback. */
export interface Network {
  /** Of an address, with its dot at the end. */
  prefix: "10.0.0." | "127.0.0.";
  /** This one, where the proxies and Emend run. */
  here: Machine;
  addMachine(name: string, host: number): Promise<Machine>;
}

const insideVariable = "EMEND_CLUSTER_INSIDE";
const namespaces = ["--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"];

/** Runs this script again in namespaces of its own, if root may: nothing that it starts outlives it. Exits with its code. */
export function enterNamespaces(script: string): void {
  if (process.env[insideVariable] || process.getuid?.() !== 0) return;
  if (spawnSync("unshare", [...namespaces, "ip", "link", "set", "lo", "up"], { stdio: "ignore" }).status !== 0) return;
  // The shell is the first process there and reaps orphans. Patroni would take a killed Postgres that stays a zombie as alive.
  const command = ["sh", "-c", '"$@"; exit "$?"', "sh", process.execPath, ...process.execArgv, script];
  const { status } = spawnSync("unshare", [...namespaces, ...command, ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, [insideVariable]: "1" },
  });
  process.exit(status ?? 1);
}

export function openNetwork(user: RunUser): Network {
  const isOwn = process.env[insideVariable] !== undefined;
  const prefix = isOwn ? "10.0.0." : "127.0.0.";
  const here = `${prefix}10`;
  if (isOwn) {
    ip("link", "set", "lo", "up");
    ip("link", "add", "br0", "type", "bridge");
    ip("addr", "add", `${here}/24`, "dev", "br0");
    ip("link", "set", "br0", "up");
  }
  const asUser = user.isOther
    ? ["setpriv", "--reuid", String(user.uid), "--regid", String(user.gid), "--clear-groups"]
    : [];
  const machine = (name: string, address: string, enter: readonly string[]): Machine => ({
    name,
    address,
    start(program, args, logFile) {
      const [first = "", ...rest] = [...enter, ...asUser, program, ...args];
      const log = openSync(logFile, "a");
      // Debian has some of them where only root looks.
      const env = { PATH: `${process.env.PATH}:/usr/sbin`, LC_ALL: "C.UTF-8" };
      return spawn(first, rest, { stdio: ["ignore", log, log], env, cwd: "/" });
    },
    cable:
      enter.length === 0
        ? null
        : { unplug: () => ip("link", "set", name, "down"), plug: () => ip("link", "set", name, "up") },
  });
  return {
    prefix,
    here: machine("proxies", here, []),
    async addMachine(name, host) {
      const address = `${prefix}${host}`;
      return machine(name, address, isOwn ? ["nsenter", await plugIn(name, address)] : []);
    },
  };
}

/** A namespace lasts as long as a process is in it. */
async function plugIn(name: string, address: string): Promise<string> {
  const holder = spawn("unshare", ["--net", "sleep", "infinity"], { stdio: "ignore" });
  const namespaceOf = (pid: number | undefined) => readlinkSync(`/proc/${pid}/ns/net`);
  while (namespaceOf(holder.pid) === namespaceOf(process.pid)) await pause(10);
  const enter = `--net=/proc/${holder.pid}/ns/net`;
  const inside = (...args: string[]) => execFileSync("nsenter", [enter, "ip", ...args]);
  ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", String(holder.pid));
  ip("link", "set", name, "master", "br0", "up");
  inside("addr", "add", `${address}/24`, "dev", "eth0");
  for (const device of ["lo", "eth0"]) inside("link", "set", device, "up");
  return enter;
}

function ip(...args: readonly string[]): void {
  execFileSync("ip", args);
}
