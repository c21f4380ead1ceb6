// Costly: it stands still for 29 seconds by the clock of the kernel: the process starter waits for ten, and nothing shorter shows it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { hasProc } from "@emend/testkit/processes.ts";
import { expect, test } from "vitest";

test.skipIf(!hasProc())(
  "a start whose connections were dropped fails, or runs, whatever stood still for how long (Linux)",
  async () => {
    const program = `
    import { startBound } from ${JSON.stringify(join(import.meta.dirname, "bound-process.ts"))};
    const env = process.env;
    const end = () => startBound({ program: "true", args: [], env }).ended.then(({ code }) => code, (e) => e.code);
    process.stdout.write("up " + (await end()) + "\\n");
    process.stdin.on("data", async () => {
      const all = await Promise.all(Array.from({ length: 20 }, end));
      process.stdout.write("ended " + all.length + "\\n");
    });
    process.on("SIGUSR1", () => process.exit());`;
    for (const [who, ms] of [
      ["server", 12_000],
      ["starter", 12_000],
      ["server", 5_000],
    ] as const) {
      const parent = spawn(process.execPath, ["--input-type=module", "-e", program], {
        stdio: ["pipe", "pipe", "inherit"],
      });
      await once(parent.stdout, "data");
      const frozen = who === "server" ? (parent.pid ?? 0) : starterOf(parent.pid ?? 0);
      parent.stdin.write("go");
      // The starts are under way.
      await pause(5);
      process.kill(frozen, "SIGSTOP");
      await pause(ms);
      process.kill(frozen, "SIGCONT");
      const [said] = await once(parent.stdout, "data");
      expect(String(said), `${who} ${ms}`).toBe("ended 20\n");
      parent.kill("SIGUSR1");
    }
  },
);

function starterOf(pid: number): number {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
  return children.find((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("process-starter")) ?? 0;
}
