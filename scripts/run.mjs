// Starts a program on a Node that can run it: the current one when it is new enough, else the pinned dev dependency.
// Plain JavaScript on purpose: it must itself run on whatever Node the machine has.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const [major, minor] = process.versions.node.split(".").map(Number);
const isNewEnough = major > 22 || (major === 22 && minor >= 18);
const pinned = join(root, "node_modules", "node", "bin", process.platform === "win32" ? "node.exe" : "node");
const program = isNewEnough ? process.execPath : pinned;

if (!isNewEnough && !existsSync(pinned)) {
  console.error(
    `emend needs Node 22.18 or newer and this is ${process.version}; run "npm install" here (without --ignore-scripts) to get one, or install Node 24.`,
  );
  process.exit(1);
}

const [script, ...args] = process.argv.slice(2);
const child = spawn(program, ["--disable-warning=ExperimentalWarning", join(root, script), ...args], {
  stdio: "inherit",
  env: { ...process.env, PATH: `${dirname(program)}:${process.env.PATH ?? ""}` },
});
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("exit", (code, signal) => {
  process.exitCode = signal ? 128 + ({ SIGHUP: 1, SIGINT: 2, SIGKILL: 9, SIGTERM: 15 }[signal] ?? 0) : (code ?? 1);
});
