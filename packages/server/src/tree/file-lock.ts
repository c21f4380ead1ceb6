import { spawn } from "node:child_process";
import { close, open } from "node:fs";
import { promisify } from "node:util";
import { AppError } from "../errors.ts";
import { startBound } from "./bound-process.ts";

const openFile = promisify(open);
const closeFile = promisify(close);

export interface FileLock {
  /** Hand it to a child, and the lock is held until that child is gone too. */
  readonly descriptor: number;
  release(): Promise<void>;
}

/**
 * A kernel lock on a file: among all processes of this machine, gone the moment its holder dies. Node has no call
 * for it, but such a lock belongs to the open file, not to the process that asked: a small program locks the file
 * that we opened, and exits.
 */
export async function lockFile(
  path: string,
  options: { mode: "shared" | "exclusive"; waitMsMax: number },
  signal: AbortSignal,
): Promise<FileLock> {
  const descriptor = await openFile(path, "a", 0o600);
  try {
    signal.throwIfAborted();
    if (await takeAtOnce(options.mode, descriptor)) return { descriptor, release: () => closeFile(descriptor) };
    const timeout = AbortSignal.timeout(options.waitMsMax);
    const code =
      (await askFor(flockProgram(options.mode), descriptor, signal, timeout)) ??
      (await askFor(perlProgram(options.mode), descriptor, signal, timeout));
    if (code === 0) return { descriptor, release: () => closeFile(descriptor) };
    signal.throwIfAborted();
    throw timeout.aborted
      ? new AppError("repository_unavailable", {
          publicMessage: "The mirror stayed busy for too long.",
          retryable: true,
        })
      : new AppError("internal", { publicMessage: "Files cannot be locked here: install flock (util-linux) or perl." });
  } catch (error) {
    await closeFile(descriptor);
    throw error;
  }
}

/** Most locks are free. A program that does not wait needs nobody to end it, and so a third of the processes. */
async function takeAtOnce(mode: "shared" | "exclusive", descriptor: number): Promise<boolean> {
  const [program = "", ...args] = flockProgram(mode);
  const stdio = ["ignore", "ignore", "ignore", "ignore", descriptor] as const;
  const locker = spawn(program, ["-n", ...args], { stdio: [...stdio], env: { PATH: process.env.PATH ?? "" } });
  const { promise, resolve } = Promise.withResolvers<boolean>();
  locker.once("error", () => resolve(false));
  locker.once("exit", (code) => resolve(code === 0));
  return promise;
}

/** The child sees the file as 4. */
function flockProgram(mode: "shared" | "exclusive"): string[] {
  return ["flock", mode === "shared" ? "-s" : "-x", "4"];
}

/** Where flock is missing (macOS), perl is there. */
function perlProgram(mode: "shared" | "exclusive"): string[] {
  return ["perl", "-e", `open(F, ">>&=", 4) && flock(F, ${mode === "shared" ? 1 : 2}) or exit 1`];
}

/** Its exit code; null where there is no such program. */
async function askFor(
  [program = "", ...args]: string[],
  descriptor: number,
  ...signals: AbortSignal[]
): Promise<number | null> {
  const stop = AbortSignal.any(signals);
  if (stop.aborted) return 1;
  const locker = startBound({ program, args, env: { PATH: process.env.PATH ?? "" }, descriptors: [descriptor] });
  locker.stdout.resume();
  locker.stderr.resume();
  stop.addEventListener("abort", locker.stop, { once: true });
  try {
    const { code } = await locker.ended;
    return code === 127 ? null : (code ?? 1);
  } finally {
    stop.removeEventListener("abort", locker.stop);
  }
}
