import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { copyOfSources, root } from "./source-copy.ts";

/** As many as the cores of a small machine. */
const copiesMax = 2;

/** Copies of the sources in which tests run. They go with this process, and so do the tests. */
export function openTrials(databaseUrl: string, count: number = copiesMax) {
  const running = new Set<ChildProcess>();
  const copies = Array.from({ length: Math.min(count, copiesMax) }, () => copyOfSources());
  process.on("exit", () => {
    for (const copy of copies) rmSync(copy, { recursive: true, force: true });
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.on(signal, () => {
      for (const child of running) child.kill();
      process.exit(130);
    });
  return {
    copies,
    async vitest(copy: string, args: readonly string[], more: NodeJS.ProcessEnv = {}) {
      const env = { ...process.env, EMEND_TEST_DATABASE_URL: databaseUrl, ...more };
      const child = spawn(process.execPath, [join(root, "node_modules/vitest/vitest.mjs"), "run", ...args], {
        cwd: copy,
        env,
        stdio: ["ignore", "pipe", "pipe"],
      });
      running.add(child);
      let output = "";
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding("utf8").on("data", (part) => {
          output = `${output}${part}`.slice(-2_000);
        });
      const [code] = await once(child, "close");
      running.delete(child);
      return { code: code as number | null, output };
    },
    /** Gives each item to a free copy. */
    async each<Item>(items: readonly Item[], work: (copy: string, item: Item) => Promise<void>): Promise<void> {
      const waiting = [...items];
      await Promise.all(
        copies.map(async (copy) => {
          for (let item = waiting.shift(); item; item = waiting.shift()) await work(copy, item);
        }),
      );
    },
  };
}
