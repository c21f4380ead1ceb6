// Costly: processor time and memory are counted for a process of its own.
import { fileURLToPath } from "node:url";
import { runProgram } from "@emend/testkit/run-program.ts";
import { expect, it } from "vitest";

it("hostile pages, changes and answers stall nothing and take little memory", async () => {
  const program = fileURLToPath(new URL("../attack/stalls.ts", import.meta.url));
  const { stdout } = await runProgram(process.execPath, [program, "1", "12"]);
  const measured = stdout
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { ms: number; rssMb: number });
  expect(measured).toHaveLength(6);
  // The health check of a load balancer never waits longer.
  expect(measured.filter(({ ms, rssMb }) => ms > 100 || rssMb > 600)).toEqual([]);
});
