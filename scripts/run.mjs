// Starts a program on a suitable Node: this one if it is new enough, otherwise the one of scripts/fallback-node, which
// npm installs only if needed. Plain JavaScript, because it must run on any Node.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [major, minor] = process.versions.node.split(".").map(Number);
const isNewEnough = major > 22 || (major === 22 && minor >= 18);
const platform = `${process.platform}-${process.arch}`;
const fallback = [`node-${platform}`, `node-bin-${platform}`]
  .map((name) => join(root, "node_modules", name, "bin", "node"))
  .find((path) => existsSync(path));
const program = isNewEnough ? process.execPath : fallback;

if (!program) {
  console.error(
    `Emend needs Node 22.18 or newer, and this is ${process.version}. Install Node 24 from https://nodejs.org, or run "npm install" here: on Linux and macOS, x64 and arm64, it brings one for this checkout.`,
  );
  // `npm install` must not fail here: a newer Node may follow.
  process.exit(process.env.npm_lifecycle_event === "prepare" ? 0 : 1);
}

const [script, ...args] = process.argv.slice(2);
// The comment at the top of a program says how it is called, unless it says so itself.
if (args[0] === "--help") {
  const text = readFileSync(join(root, script), "utf8");
  const about = /^(?:\/\/.*\n)+/.exec(text)?.[0];
  if (about?.includes("npm run") && !/(?:^ +|console\.log\()`usage:/m.test(text)) {
    console.log(about.replace(/^\/\/ ?/gm, "").trimEnd());
    process.exit();
  }
}
const child = spawn(program, ["--disable-warning=ExperimentalWarning", join(root, script), ...args], {
  stdio: "inherit",
  env: { ...process.env, PATH: `${dirname(program)}${delimiter}${process.env.PATH ?? ""}` },
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  process.exitCode = signal ? 128 + constants.signals[signal] : (code ?? 1);
});
