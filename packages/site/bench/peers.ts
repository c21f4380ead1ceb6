import { execFile } from "node:child_process";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** A program that people run for the same end. */
export interface Peer {
  name: string;
  version: string;
  /** Everything that it prints about a folder. */
  run(folder: string): Promise<string>;
  /** The pages that it calls faulty, by their names. */
  pages(printed: string): Iterable<string>;
}

/** Outside of the repository, so that installing them changes nothing here. */
const home = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "emend-peers");
const packages = { "markdown-link-check": "3.15.0", linkinator: "8.1.0" } as const;

export async function installPeers(): Promise<void> {
  const file = join(home, "package.json");
  const wanted = JSON.stringify({ private: true, dependencies: packages });
  if ((await readFile(file, "utf8").catch(() => "")) === wanted) return;
  await mkdir(home, { recursive: true });
  await writeFile(join(home, ".npmrc"), "");
  await writeFile(file, wanted);
  await output("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts"], home);
}

/** What a program prints, whatever it ends with. */
export function output(program: string, args: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, NO_COLOR: "1", FORCE_COLOR: "0", CI: "1" };
  return new Promise((done) => {
    execFile(program, args, { cwd, env, maxBuffer: 2 ** 28, timeout: 30 * 60_000 }, (_error, stdout, stderr) =>
      done(`${stdout}\n${stderr}`),
    );
  });
}

const remark = fileURLToPath(new URL("./remark.ts", import.meta.url));
const own = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));
const node = ["--disable-warning=ExperimentalWarning", "--max-old-space-size=8192"];

export const emend: Peer = {
  name: "emend check",
  version: "this commit",
  run: (folder) => output(process.execPath, [...node, own, "check", folder, "--no-cache", "--json"], folder),
  *pages(printed) {
    const { findings } = JSON.parse(printed) as { findings: { path: string; severity: string }[] };
    for (const { path, severity } of findings) if (severity !== "info") yield path;
  },
};

export const plainPeers: readonly Peer[] = [
  {
    name: "remark-validate-links",
    version: "13.1.0",
    run: (folder) => output(process.execPath, [...node, remark, folder], folder),
    pages: (printed) => (JSON.parse(printed) as { pages: string[] }).pages,
  },
  {
    name: "markdown-link-check",
    version: packages["markdown-link-check"],
    run: (folder) =>
      output(process.execPath, [join(home, "node_modules/.bin/markdown-link-check"), "-q", "guides"], folder),
    pages: (printed) => [...printed.matchAll(/dead links? found in (\S+)/g)].map(([, path = ""]) => path),
  },
  {
    name: "linkinator --markdown",
    version: packages.linkinator,
    run: (folder) =>
      output(
        process.execPath,
        [
          join(home, "node_modules/.bin/linkinator"),
          "guides/*.md",
          "--markdown",
          "--check-fragments",
          "--verbosity",
          "error",
          "--format",
          "csv",
        ],
        folder,
      ),
    pages: (printed) =>
      printed.split("\n").flatMap((row) => (row.includes(",BROKEN,") ? (row.split(",")[3] ?? []) : [])),
  },
];

export async function mkdocsPeer(): Promise<Peer | null> {
  const version = /version ([\d.]+)/.exec(await output("mkdocs", ["--version"], "."))?.[1];
  if (version === undefined) return null;
  const args = ["build", "--strict", "--site-dir", join(home, "mkdocs-site")];
  return {
    name: "mkdocs build --strict",
    version,
    run: (folder) => output("mkdocs", args, folder),
    pages: (printed) => [...printed.matchAll(/file '([^']+)' contains/g)].map(([, path = ""]) => path),
  };
}
