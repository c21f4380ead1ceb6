// Runs the demo and the tests on a simulated Mac, on Linux: npm run test:machines [-- test files]. It prints what it
// cannot simulate. Without files, it runs the tests of processes, git, runners, the database and the commands.
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { pathToFileURL } from "node:url";

/** Programs of Linux that a Mac does not have. */
const missing = ["flock", "bwrap", "unshare", "setsid"];
const descriptorsMax = 256;
/** macOS keeps temporary files in a folder of about this length, behind a symbolic link. */
const temporaryBytes = 84;
const usualTests = [
  "packages/runners",
  "packages/tree/src",
  "packages/server/src/db/embedded",
  "packages/agent/src/runner-model.test.ts",
  "packages/server/test/full-disk.wide.test.ts",
  "packages/cli/test/check.test.ts",
  "packages/cli/test/demo.wide.test.ts",
];
const notSimulated = [
  "the platform's name: code for darwin (sockets with a path, en_US.UTF-8, binaries of npm) does not run",
  "Apple's sh, because Emend starts /bin/sh: only its block size of `ulimit -f` is tested, by bound-process.test.ts",
  "a missing /proc for programs other than Node",
  "file systems that ignore case, or that keep names in NFD",
  "Apple's git, its keychain helper, and a browser in /Applications",
];

if (process.platform !== "linux") throw new Error("this simulates a Mac on Linux; on a Mac, run npm test");
if (process.getuid?.() === 0) throw new Error("run this as an ordinary user: people on a Mac are not root");
const place = mkdtempSync("/tmp/emend-mac-ü ");
process.on("exit", () => rmSync(place, { recursive: true, force: true }));
const env = {
  ...process.env,
  PATH: linkPrograms(),
  HOME: makeHome(),
  TMPDIR: makeTemporary(),
  NODE_OPTIONS: `--import=${pathToFileURL(hideProcesses())}`,
};

const failed = [
  ["the demo", ["run", "demo", "--", "--data", join(place, "demo data")]],
  ["the demo of drift", ["run", "demo", "--", "--drift", "--data", join(place, "drift data")]],
  ["the tests", ["run", "unit", "--", ...(process.argv.length > 2 ? process.argv.slice(2) : usualTests)]],
].flatMap(([name, args]) => (run(args as string[]) ? [] : [name as string]));

console.log(`\nNot simulated:\n${notSimulated.map((line) => `  ${line}`).join("\n")}`);
if (failed.length > 0) {
  console.error(`\nFailed on a simulated Mac: ${failed.join(", ")}`);
  process.exitCode = 1;
}

function run(args: readonly string[]): boolean {
  const limited = `ulimit -n ${descriptorsMax} && exec npm "$@"`;
  return spawnSync("sh", ["-c", limited, "sh", ...args], { env, stdio: ["ignore", "inherit", "inherit"] }).status === 0;
}

/** One folder with a link to every program of PATH except the missing ones. The first folder wins, as in PATH. */
function linkPrograms(): string {
  const bin = join(place, "bin");
  mkdirSync(bin);
  const linked = new Set(missing);
  for (const folder of (process.env.PATH ?? "").split(delimiter)) {
    for (const name of namesIn(folder)) {
      if (linked.has(name)) continue;
      linked.add(name);
      symlinkSync(join(folder, name), join(bin, name));
    }
  }
  return bin;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A module that hides /proc from each Node process. Programs keep it: `ps` of Linux needs it. */
function hideProcesses(): string {
  const file = join(place, "hide-proc.mjs");
  writeFileSync(
    file,
    `import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
const isHidden = (path) => /^\\/proc(\\/|$)/.test(String(path));
const gone = (path) => Object.assign(new Error("ENOENT: no such file or directory, '" + path + "'"), { code: "ENOENT" });
for (const name of ["readdir", "readFile", "readlink", "stat", "lstat", "open", "access"]) {
  const now = fs[name + "Sync"];
  fs[name + "Sync"] = (path, ...rest) => { if (isHidden(path)) throw gone(path); return now(path, ...rest); };
  const later = fs.promises[name];
  fs.promises[name] = async (path, ...rest) => { if (isHidden(path)) throw gone(path); return later(path, ...rest); };
}
const exists = fs.existsSync;
fs.existsSync = (path) => !isHidden(path) && exists(path);
syncBuiltinESMExports();
`,
  );
  return file;
}

function makeHome(): string {
  const home = join(place, "home of ü");
  mkdirSync(home);
  writeFileSync(
    join(home, ".gitconfig"),
    "[commit]\n\tgpgsign = true\n[tag]\n\tgpgsign = true\n[gpg]\n\tprogram = false\n",
  );
  return home;
}

function makeTemporary(): string {
  const real = join(place, "private");
  mkdirSync(real, { mode: 0o755 });
  const link = join(place, "var");
  symlinkSync(real, link);
  const long = join(link, "f".repeat(Math.max(1, temporaryBytes - Buffer.byteLength(link) - 1)));
  mkdirSync(long);
  return long;
}
