import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdir, mkdtemp, readdir, realpath, rename, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Fetch } from "@emend/base/network.ts";
import {
  bind,
  bridged,
  findProgram,
  inside,
  programMounts,
  runProgram,
  type Sandbox,
  type StartProcess,
} from "@emend/runners";
import type { Tree } from "@emend/tree";
import { forgetOld } from "./forget-old.ts";
import type { BuildLimits } from "./limits.ts";
import { startRegistryGateway } from "./registry-gateway.ts";

/** Installed packages, read-only for every build of every job with the same lock file. */
export interface Prepared {
  key: string;
  mounts: readonly string[];
  /** Their folders in the tree. */
  folders: readonly string[];
  programs: ReadonlySet<string>;
}

export type Preparation = { kind: "prepared"; prepared: Prepared } | { kind: "failed"; words: string };

export interface PrepareDeps {
  start: StartProcess;
  sandbox: Sandbox;
  /** The registry is asked through the operator's proxy. */
  fetch: Fetch;
  registry: string;
  limits: BuildLimits;
  /** The server's search path. */
  path: string;
  /** Keeps what was installed. */
  dir: string;
}

/** Builders write into these, and everything else of a package folder is read-only. */
const scratch = [".cache", ".vite", ".vite-temp", ".astro"];
const scratchBytesMax = 256 * 2 ** 20;
const preparedMax = 20;
const manifestsMax = 500;
const otherLocks = ["pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb"];
/** Settings of npm that decide what a lock file means. All others, with registries and tokens among them, are left out. */
const keptSettings = /^(?:legacy-peer-deps|strict-peer-deps|install-strategy|include-workspace-root)\s*=\s*[\w-]+\s*$/;

export interface LockFile {
  /** Its folder in the tree. */
  folder: string;
  path: string;
  /** Of its content. */
  oid: string;
}

/** The nearest lock file at or above a folder. `words`: why the nearest one cannot be used. */
export async function findLock(tree: Tree, folder: string): Promise<LockFile | { words: string } | null> {
  const paths = new Map((await tree.list()).map(({ path, oid }) => [path, oid]));
  for (let at = folder; ; at = dirname(at) === "." ? "" : dirname(at)) {
    const of = (name: string) => (at === "" ? name : `${at}/${name}`);
    for (const name of ["package-lock.json", "npm-shrinkwrap.json"]) {
      const oid = paths.get(of(name));
      if (oid !== undefined) return { folder: at, path: of(name), oid };
    }
    const other = otherLocks.find((name) => paths.has(of(name)));
    if (other)
      return {
        words: `packages are installed by npm from a package-lock.json, and this site has ${of(other)}. Set build.command, or add a package-lock.json`,
      };
    if (at === "") return null;
  }
}

/** Installs what a lock file names, once: later builds with the same lock file mount it. */
export async function preparePackages(
  deps: PrepareDeps,
  { tree, lock, withScripts }: { tree: Tree; lock: LockFile; withScripts: boolean },
  signal: AbortSignal,
): Promise<Preparation> {
  const npm = await findProgram("npm", deps.path);
  if (npm === null) return { kind: "failed", words: "npm is not installed on this server" };
  const files = await filesOf(tree, lock);
  const key = createHash("sha256")
    .update(JSON.stringify([...files, withScripts, process.version]))
    .digest("hex");
  const home = join(deps.dir, key);
  if (!(await exists(join(home, "done")))) {
    const failed = await install(deps, { npm, files, home, withScripts }, signal);
    if (failed !== null) return { kind: "failed", words: failed };
    await forgetOld(deps.dir, preparedMax);
  }
  const now = new Date();
  await utimes(home, now, now);
  return { kind: "prepared", prepared: await describe(key, home, lock) };
}

/** The lock file, and the manifests that it was made from. */
async function filesOf(tree: Tree, lock: LockFile): Promise<readonly (readonly [path: string, text: string])[]> {
  const inside = (path: string) => lock.folder === "" || path.startsWith(`${lock.folder}/`);
  const manifests = (await tree.list())
    .map(({ path }) => path)
    .filter((path) => inside(path) && /(?:^|\/)package\.json$/.test(path) && !path.includes("node_modules/"))
    .slice(0, manifestsMax);
  const prefix = lock.folder === "" ? 0 : lock.folder.length + 1;
  const files: [string, string][] = [];
  for (const path of [lock.path, ...manifests]) {
    files.push([path.slice(prefix), (await tree.read(path))?.toString() ?? ""]);
  }
  const settings = (await tree.read(join(lock.folder, ".npmrc")))?.toString() ?? "";
  files.push([
    ".npmrc",
    settings
      .split(/\r?\n/)
      .filter((line) => keptSettings.test(line))
      .join("\n"),
  ]);
  return files;
}

/** Null: done. Otherwise why not. */
async function install(
  deps: PrepareDeps,
  task: { npm: string; files: readonly (readonly [string, string])[]; home: string; withScripts: boolean },
  signal: AbortSignal,
): Promise<string | null> {
  const { limits } = deps;
  await mkdir(deps.dir, { recursive: true });
  const part = await realpath(await mkdtemp(join(deps.dir, "part-")));
  const dir = await realpath(await mkdtemp(join(tmpdir(), "emend-packages-")));
  const bytesMax = limits.diskBytesMax;
  const gateway = await startRegistryGateway(deps, {
    socketPath: join(dir, "gateway.sock"),
    registry: deps.registry,
    bytesMax,
  });
  const disk = watchDisk(part, bytesMax);
  try {
    const work = join(part, "work");
    await mkdir(work);
    for (const [path, text] of task.files) {
      await mkdir(dirname(join(work, path)), { recursive: true });
      await writeFile(join(work, path), text);
    }
    const url = `http://127.0.0.1:${inside.port}/`;
    const options = [
      task.withScripts ? "--foreground-scripts" : "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--include=dev",
    ];
    const mounts = [
      ...["--size", String(bytesMax), "--tmpfs", inside.home],
      ...["--bind", work, inside.work],
      ...(await programMounts(task.npm)),
    ];
    const run = async (verb: string) =>
      runProgram(
        deps.start,
        {
          command: await bridged({
            sandbox: deps.sandbox,
            dir,
            mounts,
            command: [inside.node, task.npm, verb, ...options],
          }),
          cwd: dir,
          env: {
            HOME: inside.home,
            PATH: inside.path,
            TMPDIR: "/tmp",
            LANG: "C.UTF-8",
            npm_config_registry: url,
            npm_config_update_notifier: "false",
            npm_config_fetch_retries: "3",
            npm_config_fetch_retry_factor: "2",
            npm_config_fetch_retry_mintimeout: "500",
            npm_config_cache: `${inside.home}/.npm`,
          },
          stdin: "",
          memoryBytesMax: limits.memoryBytesMax,
          clock: AbortSignal.any([AbortSignal.timeout(limits.timeoutMs), disk.over]),
          statusFile: join(dir, "status.json"),
        },
        signal,
      );
    let end = await run("ci");
    // npm writes lock files without the packages of other platforms, and then refuses them.
    if (end.kind === "exited" && end.code !== 0 && end.stderr.includes("EUSAGE")) end = await run("install");
    if (disk.over.aborted) return `the packages need more than ${bytesMax / 2 ** 20} MiB`;
    if (end.kind === "timed out") return `npm did not end within ${limits.timeoutMs / 1000} s`;
    if (end.kind === "too large") return `npm used ${end.words}, more than is allowed`;
    if (end.code !== 0) return `npm ended with code ${end.code}: ${lastWords(end.stderr || end.stdout)}`;
    await addScratch(work);
    await writeFile(join(part, "done"), "");
    // Another process may have been faster.
    await rename(part, task.home).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== "ENOTEMPTY" && error.code !== "EEXIST") throw error;
    });
    return null;
  } finally {
    disk.stop();
    await gateway.close();
    await rm(part, { recursive: true, force: true, maxRetries: 3 });
    await rm(dir, { recursive: true, force: true, maxRetries: 3 });
  }
}

function lastWords(text: string): string {
  const lines = text.split("\n").map((line) => line.replace(/^npm (?:error|ERR!)\s*/, "").trim());
  return lines
    .filter((line) => line !== "" && !/complete log|debug-0\.log/.test(line))
    .slice(0, 4)
    .join("; ")
    .slice(0, 400);
}

/** Package folders at any depth, not those inside of packages. Links are not followed. */
async function packageFolders(work: string, below = ""): Promise<readonly string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(work, below), { withFileTypes: true })) {
    if (!entry.isDirectory()) continue;
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.name === "node_modules") found.push(path);
    else found.push(...(await packageFolders(work, path)));
  }
  return found;
}

async function addScratch(work: string): Promise<void> {
  for (const folder of await packageFolders(work)) {
    for (const name of scratch) await mkdir(join(work, folder, name)).catch(() => {});
  }
}

async function describe(key: string, home: string, lock: LockFile): Promise<Prepared> {
  const work = join(home, "work");
  const found = await packageFolders(work);
  const mounts: string[] = [];
  const folders: string[] = [];
  for (const folder of found) {
    const inTree = lock.folder === "" ? folder : `${lock.folder}/${folder}`;
    folders.push(inTree);
    mounts.push(...bind(join(work, folder), `${inside.work}/${inTree}`));
    const entries = await readdir(join(work, folder), { withFileTypes: true });
    for (const name of scratch) {
      if (!entries.some((entry) => entry.name === name && entry.isDirectory())) continue;
      mounts.push("--size", String(scratchBytesMax), "--tmpfs", `${inside.work}/${inTree}/${name}`);
    }
  }
  const programs = await readdir(join(work, "node_modules/.bin")).catch(() => []);
  return { key, mounts, folders, programs: new Set(programs) };
}

const measureEveryMs = 1_000;

/** The kernel limits no folder's size, so it is measured. */
function watchDisk(folder: string, bytesMax: number): { over: AbortSignal; stop(): void } {
  const controller = new AbortController();
  const measure = async () => {
    const { stdout } = await promisify(execFile)("du", ["-sk", folder]).catch(({ stdout: text }) => ({
      stdout: `${text}`,
    }));
    if (Number.parseInt(stdout, 10) * 1024 > bytesMax) controller.abort();
  };
  const timer = setInterval(() => void measure(), measureEveryMs);
  timer.unref();
  return { over: controller.signal, stop: () => clearInterval(timer) };
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
