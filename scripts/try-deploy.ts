// npm run test:deploy [-- package proxies] follows docs/deploy.md on this machine, with real programs and downloads.
// Not part of npm test, which covers the cheap half.
import { type SpawnSyncOptions, spawnSync } from "node:child_process";
import { chmod, chown, copyFile, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { tryProxies } from "./try-proxies.ts";

const root = dirname(import.meta.dirname);
const nobody = 65534;
const parts: Record<string, (dir: string) => Promise<void>> = { package: tryPackage, proxies: tryProxies };

/** Builds, packs, installs into a home folder and runs the demo, without root and with an empty npm cache. */
async function tryPackage(dir: string): Promise<void> {
  run("npm", ["run", "build"], { cwd: root });
  run("npm", ["pack", "--silent", "--pack-destination", dir, "./packages/cli/dist"], { cwd: root });
  const [tarball = ""] = (await readdir(dir)).filter((name) => name.endsWith(".tgz"));
  const home = join(dir, "home");
  const bin = join(home, ".local", "bin");
  await mkdir(bin, { recursive: true });
  // This script's Node may be in a folder that other users cannot enter.
  await copyFile(process.execPath, join(dir, "node"));
  const person: SpawnSyncOptions = {
    cwd: home,
    env: { ...foreign(process.env), HOME: home, PATH: `${bin}:${dir}:${process.env.PATH}`, TMPDIR: home },
  };
  if (process.getuid?.() === 0) {
    for (const path of [home, join(home, ".local"), bin]) await chown(path, nobody, nobody);
    Object.assign(person, { uid: nobody, gid: nobody });
  }
  run("npm", ["install", "--global", "--prefix", join(home, ".local"), join(dir, tarball)], person);
  run("emend", ["--version"], person);
  const { status, prLink } = JSON.parse(run("emend", ["demo", "--json"], person));
  if (status !== "completed" || !prLink) throw new Error(`The demo ended as ${status} without a pull request.`);
  console.log(`  pull request ${prLink}`);
}

/** The machine's environment (proxies, certificates), without npm's and Emend's variables. */
function foreign(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !/^(npm_|EMEND_|XDG_|INIT_CWD)/i.test(name)));
}

function run(program: string, args: string[], options: SpawnSyncOptions): string {
  console.log(`  $ ${program} ${args.join(" ")}`);
  const { status, error, stdout, stderr } = spawnSync(program, args, {
    ...options,
    encoding: "utf8",
    timeout: 600_000,
  });
  if (error) throw error;
  if (status !== 0) throw new Error(`${program} ended with ${status}:\n${stdout}${stderr}`);
  return String(stdout);
}

const chosen = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(parts);
for (const name of chosen) {
  const part = parts[name];
  if (!part) throw new Error(`Unknown part ${name}. Use ${Object.keys(parts).join(", ")}.`);
  console.log(name);
  const dir = await mkdtemp(join(tmpdir(), "emend-deploy-"));
  await chmod(dir, 0o755);
  try {
    await part(dir);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
console.log("Everything worked.");
