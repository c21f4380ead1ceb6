import { access, constants, lstat, readFile, readlink, realpath, writeFile } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { StartProcess } from "./runner.ts";

/** Paths inside the sandbox: in a folder of Emend's, so that no mount hides an installed program. */
export const inside = {
  work: "/run/emend/work",
  home: "/run/emend/home",
  node: "/run/emend/bin/node",
  port: 3128,
  path: "/run/emend/bin:/usr/local/bin:/usr/bin:/bin",
};

const bridge = fileURLToPath(new URL("./bridge.ts", import.meta.url));
const systemFolders = ["/bin", "/sbin", "/lib", "/lib32", "/lib64"];
const systemFiles = [
  "/etc/ssl",
  "/etc/ca-certificates",
  "/etc/pki",
  "/etc/alternatives",
  "/etc/ld.so.cache",
  "/etc/localtime",
];
const tmpBytesMax = 512 * 2 ** 20;
const sharedBytesMax = 64 * 2 ** 20;

export interface Sandbox {
  bwrap: string;
  /** Extra options that this bubblewrap supports. */
  own: readonly string[];
}

export type SandboxTrial = ({ kind: "usable" } & Sandbox) | { kind: "unusable"; words: string };

/** Whether bubblewrap is installed and works here: it cannot where user namespaces are forbidden. */
export async function trySandbox(start: StartProcess, path: string): Promise<SandboxTrial> {
  const bwrap = await findProgram("bwrap", path);
  if (bwrap === null) return { kind: "unusable", words: "bubblewrap (bwrap) is not installed" };
  // Nested user namespaces would expose more of the kernel. Older versions cannot forbid them.
  const closed = ["--disable-userns"];
  if ((await tryOnce(start, bwrap, closed)) === null) return { kind: "usable", bwrap, own: closed };
  const said = await tryOnce(start, bwrap, []);
  return said === null
    ? { kind: "usable", bwrap, own: [] }
    : { kind: "unusable", words: `bubblewrap cannot work here: ${said}` };
}

/** Null if it works; otherwise its error. */
async function tryOnce(start: StartProcess, bwrap: string, own: readonly string[]): Promise<string | null> {
  const args = [...own, "--unshare-all", "--unshare-user", "--die-with-parent", "--ro-bind", "/", "/", "true"];
  const trial = start({ program: bwrap, args, env: { PATH: "/usr/bin:/bin" } });
  let said = "";
  trial.stderr.on("data", (chunk) => {
    said = `${said}${chunk}`.slice(0, 300);
  });
  trial.stdout.resume();
  trial.stdin.end();
  const { code } = await trial.ended;
  return code === 0 ? null : said.trim();
}

/**
 * The command that runs another one in the sandbox: separate processes, users, network and host name. Of the file system
 * it sees the system's programs (read-only), our Node, and what is mounted for it.
 */
export async function confined(input: {
  sandbox: Sandbox;
  /** A folder on the host that only we write to. */
  dir: string;
  /** More mounts, as options of bubblewrap. */
  mounts: readonly string[];
  command: readonly string[];
}): Promise<readonly string[]> {
  return [
    input.sandbox.bwrap,
    ...input.sandbox.own,
    ...["--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--json-status-fd", "4"],
    // The shell that starts it leaves this behind: the folder of the server.
    ...["--uid", "1000", "--gid", "1000", "--hostname", "emend", "--unsetenv", "OLDPWD"],
    ...["--ro-bind", "/usr", "/usr", ...(await systemMounts())],
    ...["--proc", "/proc", "--dev", "/dev"],
    // These are in memory and belong to no process, so nothing else of this kind is writable.
    ...["--size", String(tmpBytesMax), "--tmpfs", "/tmp", "--size", String(sharedBytesMax), "--tmpfs", "/dev/shm"],
    ...systemFiles.flatMap((path) => ["--ro-bind-try", path, path]),
    ...(await writeEtc(input.dir)),
    ...bind(process.execPath, inside.node),
    ...input.mounts,
    ...["--chdir", inside.work, "--remount-ro", "/dev", "--remount-ro", "/"],
    "--",
    ...input.command,
  ];
}

/** A program that reaches the gateway's socket, `gateway.sock` in the run's folder, and changes the checkout. */
export async function sandboxed(input: {
  sandbox: Sandbox;
  /** The program's file. */
  file: string;
  args: readonly string[];
  /** This run's folders on the host. */
  place: { dir: string; work: string; home: string };
}): Promise<readonly string[]> {
  const { place, file, sandbox } = input;
  const mounts = [
    ...bind(programRoot(file), programRoot(file)),
    ...["--bind", place.home, inside.home, "--bind", place.work, inside.work],
  ];
  return bridged({ sandbox, dir: place.dir, mounts, command: [file, ...input.args] });
}

/** Like `confined`, with a loopback port that leads to the socket `gateway.sock` in the folder. */
export async function bridged(input: Parameters<typeof confined>[0]): Promise<readonly string[]> {
  const { dir } = input;
  const script = `/run/emend/${bridge.slice(bridge.lastIndexOf("/") + 1)}`;
  await writeFile(join(dir, "package.json"), '{"type":"module"}\n');
  const mounts = [
    ...bind(bridge, script),
    ...bind(join(dir, "package.json"), "/run/emend/package.json"),
    ...bind(join(dir, "gateway.sock"), "/run/emend/gateway.sock"),
    ...input.mounts,
  ];
  const command = [inside.node, script, String(inside.port), "/run/emend/gateway.sock", ...input.command];
  return confined({ ...input, mounts, command });
}

/** Mounts a file or a folder, read-only. */
export function bind(from: string, to: string): readonly string[] {
  return ["--ro-bind", from, to];
}

/** The program's own files: the packages around it, or its single file. */
function programRoot(file: string): string {
  const packages = file.indexOf("/node_modules/");
  return packages === -1 ? file : `${file.slice(0, packages)}/node_modules`;
}

/** What a program outside of the system's folders needs of the disk: its virtual environment, packages, or file. */
export async function programMounts(file: string): Promise<readonly string[]> {
  if (!relative("/usr", file).startsWith("..")) return [];
  const environment = resolve(file, "../..");
  const home = await pythonHome(environment);
  if (home !== null) return [...around(dirname(file)), ...around(home)];
  const python = await scriptPython(file);
  return [...(python === null ? [] : around(dirname(python))), ...bind(programRoot(file), programRoot(file))];
}

const firstLineMax = 300;

/** The Python in a script's first line. Null if it is no script of Python. */
export async function scriptPython(file: string): Promise<string | null> {
  const start = (await readFile(file, "utf8").catch(() => "")).slice(0, firstLineMax);
  return /^#!(\/\S*python\S*)\n/.exec(start)?.[1] ?? null;
}

/** The folder of the Python that a virtual environment was made with. Null if it is none. */
export async function pythonHome(folder: string): Promise<string | null> {
  const settings = await readFile(join(folder, "pyvenv.cfg"), "utf8").catch(() => null);
  return settings === null ? null : (/^home\s*=\s*(\S+)\s*$/m.exec(settings)?.[1] ?? "/usr/bin");
}

/** The installation around a folder of programs, unless the sandbox has it already. */
export function around(programs: string): readonly string[] {
  const root = resolve(programs, "..");
  return relative("/usr", root).startsWith("..") && root !== "/" ? bind(root, root) : [];
}

/** Links such as /bin → usr/bin stay links; other folders are mounted. */
async function systemMounts(): Promise<readonly string[]> {
  const mounts = await Promise.all(
    systemFolders.map(async (path) => {
      const found = await lstat(path).catch(() => null);
      if (found?.isSymbolicLink()) return ["--symlink", await readlink(path), path];
      return found ? ["--ro-bind", path, path] : [];
    }),
  );
  return mounts.flat();
}

/** Programs look up users and localhost. Nothing of the machine's own files is shown. */
async function writeEtc(dir: string): Promise<readonly string[]> {
  const files = {
    passwd: `emend:x:1000:1000::${inside.home}:/bin/sh\n`,
    group: "emend:x:1000:\n",
    hosts: "127.0.0.1 localhost\n::1 localhost\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\n",
  };
  const mounts: string[] = [];
  for (const [name, text] of Object.entries(files)) {
    await writeFile(join(dir, name), text);
    mounts.push(...bind(join(dir, name), `/etc/${name}`));
  }
  return mounts;
}

/** The file of a command on a search path, with links resolved. Null if there is none. */
export async function findProgram(command: string, path: string): Promise<string | null> {
  for (const folder of path.split(":")) {
    if (!isAbsolute(folder)) continue;
    try {
      const file = join(folder, command);
      await access(file, constants.X_OK);
      return await realpath(file);
    } catch {
      // The next folder may have it.
    }
  }
  return null;
}
