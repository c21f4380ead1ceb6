import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface ServeProcess {
  port: number;
  child: ChildProcess;
  /** Stops it, and returns how it ended and how long it took. */
  stop(): Promise<{ code: number | string; elapsedMs: number }>;
}

const program = fileURLToPath(new URL("../../cli/src/main.ts", import.meta.url));

/** The program as people run it. */
export async function startServe(env: Record<string, string>): Promise<ServeProcess> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", program, "serve", "--port", "0"], {
    env: { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "", EMEND_LOG_LEVEL: "silent", ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit").then(([code, signal]): number | string => signal ?? code);
  const early = exited.then((code) => Promise.reject(new Error(`serve ended with ${code} before it was ready`)));
  early.catch(() => {});
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), early]);
  return {
    port: Number(new URL(JSON.parse(line as string).url).port),
    child,
    async stop() {
      const startedAt = performance.now();
      child.kill("SIGTERM");
      return { code: await exited, elapsedMs: performance.now() - startedAt };
    },
  };
}
