import { execFile } from "node:child_process";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { type OracleSite, type PlacedLink, picture } from "../oracle-site.ts";

/** One builder: its packages, how to run it, and how to read its results. */
export interface Builder {
  framework: string;
  /** npm packages with exact versions. */
  packages: Readonly<Record<string, string>>;
  /** Debian archives to unpack, for programs that may be newer than this system's. */
  archives?: readonly string[];
  /**
   * Builds the site of a folder. A failed build is also a result. With `ORACLE_STRICT`, the build fails on broken
   * links.
   */
  make(folder: string, env?: Record<string, string>): Promise<Ran>;
  /** The output folder, relative to the site. Null if the builder writes none. */
  output: string | null;
  /** The URL path of an HTML file. */
  pageUrl(file: string): string;
  /** For builders whose files do not show what is served: the HTML that is served for these paths. */
  answers?(folder: string, paths: readonly string[]): Promise<ReadonlyMap<string, string>>;
  versions(folder: string): Promise<Readonly<Record<string, string>>>;
  /** The builder's verdicts on the links of a built site. */
  read(ran: Ran, site: OracleSite, folder: string): Promise<Reading>;
}

/** A requested path, and the page that links to it. */
export interface Asked {
  path: string;
  from: string;
}

export function askedKey({ path, from }: Asked): string {
  return `${from} ${path}`;
}

export interface Reading {
  /** The base path of the site. Default: the root. */
  base?: string;
  /** Whether the builder reports a link as broken, from the rendered `href` and its page's URL. */
  isReported?(link: PlacedLink, href: string, pageUrl: string): boolean | "broken" | "no anchor";
  /** The builder renders a broken link as plain text. */
  dropsBroken?: true;
  /** Whether the builder reports a link's fragment as broken, if the output does not show it. */
  lacksAnchor?(link: PlacedLink): boolean;
  /** Requests paths from the builder's own server. Returns the file of each, "redirect", or null if not found. */
  askServer?(asked: readonly Asked[]): Promise<ReadonlyMap<string, string>>;
  /** Ids by page, if the output does not show them. */
  ids?: ReadonlyMap<string, readonly string[]>;
}

/** Outside the repository, because builders search parent folders for packages and workspaces. */
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

/** Writes a site into the builder's folder, after emptying it. */
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

/** The folder in which a site's packages are installed. */
export function homeOf(folder: string): string {
  return dirname(dirname(folder));
}

export function runNode(program: string): Builder["make"] {
  const [name = "", ...args] = program.split(" ");
  return (folder, env) => run(process.execPath, [join(homeOf(folder), "node_modules", name), ...args], folder, env);
}

/** Runs a program of this machine, and reads its versions with a line of its own language. */
export function runSystem(program: string): Builder["make"] {
  const [name = "", ...args] = program.split(" ");
  return (folder, env) => run(name, args, folder, env);
}

/** Asks the interpreter that runs the program: it knows which modules the program loads. */
export async function pythonVersions(program: string, modules: readonly string[], folder: string): Promise<string[]> {
  const ask = `import ${modules.join(", ")}; print(${modules.map((name) => `${name}.__version__`).join(", ")})`;
  const script = `$(head -n 1 "$(command -v ${program})" | cut -c 3-) -c "${ask}"`;
  return (await run("sh", ["-c", script], folder)).log.trim().split(" ");
}

/** `folder/index.html` is served as `folder/`. */
export const indexUrl: Builder["pageUrl"] = (file) => `/${file.replace(/(?:^|(?<=\/))index\.html$/, "")}`;
/** The same without the trailing slash and the extension. */
export const bareUrl: Builder["pageUrl"] = (file) =>
  `/${file.replace(/(?:^|\/)index\.html$/, "").replace(/\.html$/, "")}`;
