import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, rm, stat, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { nodeEnvironment } from "./server.ts";
import { programOf } from "./test-programs.ts";

/** A whole server whose data folder is a separate file system of a few megabytes. */
export interface SmallDiskServer {
  url: string;
  pid: number;
  /** Writes until only this many bytes are left. */
  fill(leaveBytes?: number): Promise<void>;
  free(): Promise<void>;
  stop(): Promise<void>;
}

const script = `mount -t tmpfs -o size=6m,mode=0777 none "$EMEND_DATA_DIR" && exec "$@"`;

/** Only Linux has mount namespaces. */
export const hasNamespaces = spawnSync("unshare", ["--version"]).status === 0;

export async function startOnSmallDisk(
  env: Record<string, string> & { EMEND_DATA_DIR: string },
): Promise<SmallDiskServer> {
  await mkdir(env.EMEND_DATA_DIR, { recursive: true });
  // In a separate mount namespace, so that the mount ends with the process. A user namespace gives root to other users.
  const own = process.getuid?.() === 0 ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
  const server = programOf(new URL("./server-process.ts", import.meta.url));
  const child = spawn("unshare", [...own, "--", "sh", "-c", script, "sh", process.execPath, server], {
    env: { ...nodeEnvironment, ...env },
    stdio: ["pipe", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  const failed = exited.then(([code]) => {
    throw new Error(`no file system of its own for this test: unshare ended with ${code}; allow user name spaces`);
  });
  failed.catch(() => {});
  const [line] = await Promise.race([once(createInterface({ input: child.stdout }), "line"), failed]);
  const filler = join(`/proc/${child.pid}/root`, env.EMEND_DATA_DIR, "filler");
  return {
    url: JSON.parse(line as string).url,
    pid: child.pid as number,
    async fill(leaveBytes = 0) {
      for (const size of [1 << 20, 1 << 12, 1]) {
        const block = Buffer.alloc(size, 1);
        for (;;) {
          const isFull = await writeFile(filler, block, { flag: "a" }).then(
            () => false,
            (error: NodeJS.ErrnoException) => {
              if (error.code === "ENOSPC") return true;
              throw error;
            },
          );
          if (isFull) break;
        }
      }
      const { size } = await stat(filler);
      await truncate(filler, size - leaveBytes);
    },
    free: () => rm(filler),
    async stop() {
      child.kill("SIGTERM");
      child.stdin.end();
      await exited;
    },
  };
}
