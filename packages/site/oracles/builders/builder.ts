import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type OracleSite, type PlacedLink, picture } from "../oracle-site.ts";

/** One builder: what is installed for it, how it is run, and what it says of a site. */
export interface Builder {
  framework: string;
  /** From npm, with their exact versions. */
  packages: Readonly<Record<string, string>>;
  /** From Debian, to be unpacked: programs that need a newer system than this may be. */
  archives?: readonly string[];
  /** Builds the site of a folder. A build that fails is an answer, too. With `ORACLE_STRICT` it fails where it finds a fault. */
  make(folder: string, env?: Record<string, string>): Promise<Ran>;
  /** Where it writes to, below the site; null where it writes nothing. */
  output: string | null;
  /** The address of a page's HTML file, as browsers see it. */
  pageUrl(file: string): string;
  /** Where no files show what is served: the HTML that is answered with for paths of a site that was made. */
  answers?(folder: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  versions(folder: string): Promise<Readonly<Record<string, string>>>;
  /** What it says of the links of a site that was made. */
  read(ran: Ran, site: OracleSite, folder: string): Promise<Reading>;
}

/** The path of an address, and the page that it is asked from. */
export interface Asked {
  path: string;
  from: string;
}

export function askedKey({ path, from }: Asked): string {
  return `${from} ${path}`;
}

export interface Reading {
  /** What the site is served below; left out, the top. */
  base?: string;
  /** Whether the builder calls a link broken, by what it made of it and the address of its page. */
  isReported?(link: PlacedLink, href: string, pageUrl: string): boolean | "broken" | "no anchor";
  /** A target that it cannot find becomes no link at all. */
  dropsBroken?: true;
  /** Whether it calls a link's fragment broken, where no output shows it. */
  lacksAnchor?(link: PlacedLink): boolean;
  /** Asks the builder's own server for addresses: the file of each, or "redirect"; null where it has none. */
  askServer?(asked: readonly Asked[]): Promise<ReadonlyMap<string, string>>;
  /** Ids by page, where no output shows them. */
  ids?: ReadonlyMap<string, readonly string[]>;
}

/** Outside of the repository: builders look upwards for packages and workspaces. */
const cacheFolder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "emend-oracles");

const timeoutMs = 45 * 60_000;
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export interface Ran {
  isGood: boolean;
  log: string;
}

export function run(
  program: string,
  args: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<Ran> {
  const settings = {
    NO_COLOR: "1",
    FORCE_COLOR: "0",
    CI: "1",
    ASTRO_TELEMETRY_DISABLED: "1",
    NEXT_TELEMETRY_DISABLED: "1",
  };
  return new Promise((done) => {
    execFile(
      program,
      args,
      { cwd, timeout: timeoutMs, maxBuffer: 2 ** 26, env: { ...process.env, ...settings, ...env } },
      (error, stdout, stderr) => done({ isGood: error === null, log: `${stdout}\n${stderr}` }),
    );
  });
}

/** Writes a site into the builder's folder, from scratch. */
export async function writeFiles(folder: string, files: Readonly<Record<string, string>>): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), text === picture ? Buffer.from(pixel, "base64") : text);
  }
}

const debian = "http://deb.debian.org/debian/pool/main/";

export async function install({ framework, packages, archives = [] }: Builder): Promise<string> {
  const folder = join(cacheFolder, framework);
  await mkdir(folder, { recursive: true });
  for (const archive of archives) {
    const script = `test -e ${basename(archive)} || (curl -sfO ${debian}${archive} && dpkg-deb -x ${basename(archive)} .)`;
    const { isGood, log } = await run("sh", ["-c", script], folder);
    if (!isGood) throw new Error(`Debian has no ${archive}: ${log.slice(-2000)}`);
  }
  const wanted = JSON.stringify({ private: true, type: "module", dependencies: packages });
  const file = join(folder, "package.json");
  const has = await readFile(file, "utf8").catch(() => "");
  if (has === wanted || Object.keys(packages).length === 0) return folder;
  await rm(file, { force: true });
  await writeFile(file, wanted);
  const { isGood, log } = await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], folder);
  if (isGood) return folder;
  await rm(file, { force: true });
  throw new Error(`npm could not install ${framework}: ${log.slice(-2000)}`);
}

/** The folder that packages were installed into, for a site below it. */
export function homeOf(folder: string): string {
  return dirname(dirname(folder));
}

export function runNode(program: string): Builder["make"] {
  const [name = "", ...args] = program.split(" ");
  return (folder, env) => run(process.execPath, [join(homeOf(folder), "node_modules", name), ...args], folder, env);
}

/** A program of the machine, and what a line of its own language says of its versions. */
export function runSystem(program: string): Builder["make"] {
  const [name = "", ...args] = program.split(" ");
  return (folder, env) => run(name, args, folder, env);
}

/** The interpreter that runs a program knows which modules it loads. */
export async function pythonVersions(program: string, modules: readonly string[], folder: string): Promise<string[]> {
  const ask = `import ${modules.join(", ")}; print(${modules.map((name) => `${name}.__version__`).join(", ")})`;
  const script = `$(head -n 1 "$(command -v ${program})" | cut -c 3-) -c "${ask}"`;
  return (await run("sh", ["-c", script], folder)).log.trim().split(" ");
}

/** `folder/index.html` is served as `folder/`. */
export const indexUrl: Builder["pageUrl"] = (file) => `/${file.replace(/(?:^|(?<=\/))index\.html$/, "")}`;
/** The same without the slash, and without the ending. */
export const bareUrl: Builder["pageUrl"] = (file) =>
  `/${file.replace(/(?:^|\/)index\.html$/, "").replace(/\.html$/, "")}`;
