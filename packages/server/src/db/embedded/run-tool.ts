import { execFile, spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { chown } from "node:fs/promises";
import { AppError } from "../../errors.ts";

type ToolResult = { kind: "done" } | { kind: "failed"; words: string };

/** The environment of Postgres programs: nothing that changes where they look or their language. */
export const toolEnvironment = { PATH: process.env.PATH ?? "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };

/** Runs one of Postgres's programs as `user`, for at most `timeoutMs`. */
export function runTool(
  options: { user: RunUser; signal: AbortSignal; timeoutMs: number },
  file: string,
  args: readonly string[],
): Promise<ToolResult> {
  const { user, signal, timeoutMs } = options;
  return new Promise((resolve, reject) => {
    execFile(
      file,
      args,
      {
        ...(user.isOther ? { uid: user.uid, gid: user.gid } : {}),
        cwd: "/",
        env: toolEnvironment,
        signal,
        timeout: timeoutMs,
        killSignal: "SIGKILL",
        maxBuffer: 1024 * 1024,
      },
      (error, _stdout, stderr) => {
        if (signal.aborted) return reject(signal.reason);
        if (!error) return resolve({ kind: "done" });
        resolve({ kind: "failed", words: stderr.trim() || error.message });
      },
    );
  });
}

/** The user that runs Postgres. */
export interface RunUser {
  uid: number;
  gid: number;
  name: string;
  /** True if this process is root, as which Postgres refuses to run: files must then be given to the user. */
  isOther: boolean;
}

/** As root: the home's owner if there is one, otherwise `postgres` or `nobody`. Otherwise the current user. */
export function findRunUser(homeDir?: string): RunUser {
  if (process.getuid?.() !== 0) return currentUser();
  const owner = homeDir && statSync(homeDir, { throwIfNoEntry: false });
  if (owner && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, name: `user ${owner.uid}`, isOther: true };
  const found = lookUpUser("postgres") ?? lookUpUser("nobody");
  if (found) return found;
  throw cannotStart(
    'Postgres refuses to run as root, and this machine has neither a user "postgres" nor a user "nobody"',
    {
      advice: "Run Emend as an ordinary user, or set EMEND_DATABASE_URL.",
    },
  );
}

function currentUser(): RunUser {
  return { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, name: "this user", isOther: false };
}

function lookUpUser(name: string): RunUser | undefined {
  const uid = askId("-u", name);
  const gid = askId("-g", name);
  return uid && gid ? { uid, gid, name, isOther: true } : undefined;
}

function askId(flag: string, name: string): number | undefined {
  const { status, stdout } = spawnSync("id", [flag, name], { encoding: "utf8", timeout: 5_000 });
  return status === 0 ? Number(stdout) : undefined;
}

/** Whether the user may enter the folder. Asks the system: mode bits alone would miss access lists. */
export function canEnter(user: RunUser, dir: string): boolean {
  if (!user.isOther) return true;
  const { status } = spawnSync("/bin/sh", ["-c", 'cd -- "$1"', "sh", dir], {
    uid: user.uid,
    gid: user.gid,
    cwd: "/",
    timeout: 5_000,
    stdio: "ignore",
  });
  return status === 0;
}

export async function chownTo(user: RunUser, path: string): Promise<void> {
  if (user.isOther) await chown(path, user.uid, user.gid);
}

/** Whether a process with this id exists, whoever owns it. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

interface Options {
  advice?: string;
  cause?: unknown;
  /** Something is in the way, but nothing is broken. */
  isConflict?: boolean;
}

/** Why the embedded Postgres cannot run here, in one line that ends with what to do. */
export function cannotStart(why: string, options: Options = {}): AppError {
  const advice = options.advice ?? "Set EMEND_DATABASE_URL to a Postgres of your own.";
  return new AppError(options.isConflict ? "conflict" : "unavailable", {
    publicMessage: "the database is not available",
    message: `the embedded Postgres cannot start: ${why.replace(/\s+/g, " ").trim()}. ${advice}`,
    cause: options.cause,
  });
}
