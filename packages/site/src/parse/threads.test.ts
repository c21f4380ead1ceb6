import { Worker } from "node:worker_threads";
import { expect, it } from "vitest";
import { createThreadPool, ThreadTimeout } from "./threads.ts";

const echo = `const { parentPort } = require("node:worker_threads");
parentPort.on("message", (question) => {
  if (question === "throw") throw new Error("broken");
  if (question !== "never") parentPort.postMessage(question);
});`;

function counted(threadsMax: number) {
  const threads: Worker[] = [];
  let [running, most] = [0, 0];
  const pool = createThreadPool<string, string>(
    () => {
      const thread = new Worker(echo, { eval: true });
      running += 1;
      most = Math.max(most, running);
      thread.on("exit", () => {
        running -= 1;
      });
      threads.push(thread);
      return thread;
    },
    { threadsMax },
  );
  return { pool, threads, most: () => most };
}

it("has no more threads than its maximum, and answers every question that waits", async () => {
  const { pool, threads } = counted(2);
  const questions = Array.from({ length: 100 }, (_, index) => `question ${index}`);
  expect(await Promise.all(questions.map((one) => pool.ask(one, 60_000)))).toEqual(questions);
  expect(threads).toHaveLength(2);
});

it("goes on after threads that fail or take too long, still within its maximum", async () => {
  const { pool, most } = counted(2);
  const asked = ["never", "throw", "never", "throw", "fine"].map((one) => pool.ask(one, one === "never" ? 50 : 60_000));
  const outcomes = await Promise.allSettled(asked);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected", "rejected", "fulfilled"]);
  expect((outcomes[0] as PromiseRejectedResult).reason).toBeInstanceOf(ThreadTimeout);
  expect(most()).toBeLessThanOrEqual(2);
});

it("counts a thread's own processor time, and not the time that it waits", async () => {
  const slow = `const { parentPort } = require("node:worker_threads");
    parentPort.on("message", (ms) => setTimeout(() => parentPort.postMessage("after a wait"), ms));`;
  const waits = createThreadPool<number, string>(() => new Worker(slow, { eval: true }));
  await waits.ask(0, 60_000);
  const answer = expect(waits.ask(2_100, 2_000));
  // Older releases of Node know only the clock.
  await ("cpuUsage" in Worker.prototype ? answer.resolves.toBe("after a wait") : answer.rejects.toThrow(ThreadTimeout));
  const busy = 'require("node:worker_threads").parentPort.on("message", () => { for (;;); });';
  const works = createThreadPool<number, string>(() => new Worker(busy, { eval: true }));
  await expect(works.ask(0, 100)).rejects.toBeInstanceOf(ThreadTimeout);
});

it("shares a few threads among all kinds", async () => {
  const kinds = Array.from({ length: 4 }, () => counted(2));
  let most = 0;
  const asked = kinds.flatMap(({ pool }, kind) =>
    Array.from({ length: 20 }, async (_, index) => {
      const answer = await pool.ask(`${kind} ${index}`, 60_000);
      most = Math.max(most, kinds.flatMap(({ threads }) => threads).filter(({ threadId }) => threadId !== -1).length);
      return answer;
    }),
  );
  expect(await Promise.all(asked)).toHaveLength(80);
  expect(most).toBeLessThanOrEqual(3);
});

it("a kind that waits has its turn, even if another never runs out of questions", async () => {
  const [busy, late] = [counted(3), counted(1)];
  let isAnswered = false;
  const flood = Array.from({ length: 6 }, async () => {
    while (!isAnswered) await busy.pool.ask("more", 60_000);
  });
  expect(await late.pool.ask("late", 60_000)).toBe("late");
  isAnswered = true;
  await Promise.all(flood);
});
