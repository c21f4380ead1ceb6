import { execFile } from "node:child_process";
import type { RunUser } from "./run-user.ts";

export type ToolResult = { kind: "done" } | { kind: "failed"; words: string };

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
