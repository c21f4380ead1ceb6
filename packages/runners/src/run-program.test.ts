// Costly: it counts a process from outside.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { readProcesses } from "./run-program.ts";

it("lists processes with their parent, group and memory, also where only ps can", async () => {
  const child = spawn("cat", { detached: true, stdio: ["pipe", "ignore", "ignore"] });
  await once(child, "spawn");
  try {
    for (const folder of ["/proc", "/nowhere"]) {
      const all = await readProcesses(folder);
      expect(all.get(process.pid)?.bytes).toBeGreaterThan(2 ** 24);
      expect(all.get(child.pid ?? 0)).toMatchObject({ parent: process.pid, group: child.pid, isLiving: true });
    }
  } finally {
    child.stdin.end();
  }
});
