import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { programOf } from "./test-programs.ts";

export interface ServingProcess {
  port: number;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** Runs a script as a child process. It prints `{"port":…}` once it serves, and exits with its parent, when its input closes. */
export async function spawnServing(
  script: URL,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<ServingProcess> {
  const child = spawn(process.execPath, ["--disable-warning=ExperimentalWarning", programOf(script), ...args], {
    env,
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const failed = exited.then(([code]) =>
    Promise.reject(new Error(`${script.pathname} ended with ${code} before it served`)),
  );
  failed.catch(() => {});
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), failed]);
  return {
    port: (JSON.parse(line) as { port: number }).port,
    process: child,
    async stop() {
      child.stdin.end();
      await exited;
    },
  };
}
