// Runs Postgres while standard input stays open, so that a killed test run leaves no server and no files.
import { spawn } from "node:child_process";
import { closeSync, openSync, rmSync } from "node:fs";

const [rootDir = "", logFile = "", uid, gid, file = "", ...args] = process.argv.slice(2);
const log = openSync(logFile, "a");
const postgres = spawn(file, args, {
  cwd: "/",
  stdio: ["ignore", log, log],
  ...(uid && gid ? { uid: Number(uid), gid: Number(gid) } : {}),
});
closeSync(log);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => {});
process.stdin.resume().on("end", () => postgres.kill("SIGQUIT"));
postgres.on("exit", (code) => {
  if (process.stdin.readableEnded) rmSync(rootDir, { recursive: true, force: true });
  process.exit(code ?? 1);
});
