import { Worker } from "node:worker_threads";
import { createThreadPool } from "@emend/site";
import { expect, it } from "vitest";
import { syntaxes } from "../test/syntaxes.ts";
import { createPageReader } from "./page-reader.ts";

/** A reader that counts its threads and requests. */
function counted(options: { pageMsMax?: number } = {}) {
  const threads: Worker[] = [];
  const asked: string[] = [];
  const startThread = () => {
    const thread = new Worker(new URL("./page-worker.ts", import.meta.url), { env: {} });
    const post = thread.postMessage.bind(thread);
    thread.postMessage = (question: { text: string }) => {
      asked.push(question.text);
      post(question);
    };
    threads.push(thread);
    return thread;
  };
  return { reader: createPageReader({ ...options, threads: createThreadPool(startThread) }), threads, asked };
}

it("parses each text once, however often and by however many it is asked for", async () => {
  const { reader, asked, threads } = counted();
  const both = await Promise.all([
    reader.read("`https://a.test`", syntaxes.common),
    reader.read("`https://a.test`", syntaxes.common),
  ]);
  expect(both[0]).toMatchObject([{ kind: "sample", hosts: ["a.test"] }]);
  expect(both[1]).toBe(both[0]);
  expect(await reader.read("`https://a.test`", syntaxes.common)).toBe(both[0]);
  expect(asked).toHaveLength(1);
  await reader.read("`https://a.test`", syntaxes.mdx);
  expect(asked).toHaveLength(2);
  expect(threads).toHaveLength(1);
});

it("remembers only so much: the oldest text is parsed again", async () => {
  const { reader, asked } = counted();
  const large = (index: number) => `${index} ${" ".repeat(2 ** 22 - 10)}`;
  for (let index = 0; index < 5; index += 1) await reader.read(large(index), syntaxes.text);
  await reader.read(large(4), syntaxes.text);
  expect(asked).toHaveLength(5);
  await reader.read(large(0), syntaxes.text);
  expect(asked).toHaveLength(6);
});

it("answers several at once, each with its own parts", async () => {
  const { reader, threads } = counted();
  const pages = ["`https://a.test`", "`https://a.test` `https://b.test`", "none"];
  const readings = await Promise.all(pages.map((text) => reader.read(text, syntaxes.common)));
  expect(readings.map((parts) => parts?.length)).toEqual([1, 2, 0]);
  expect(threads.length).toBeLessThanOrEqual(3);
});

it("gives up on a page that keeps the parser busy or is too large, and asks its thread nothing more", async () => {
  const { reader, threads } = counted({ pageMsMax: 1 });
  expect(await reader.read("x", syntaxes.mdx)).toBeNull();
  expect(await reader.read("x", syntaxes.mdx)).toBeNull();
  expect(threads).toHaveLength(2);
  expect(await reader.read(" ".repeat(2 ** 22 + 1), syntaxes.mdx)).toBeNull();
  expect(threads).toHaveLength(2);
});

it("does not ask a thread that ended while it waited", async () => {
  const { reader, threads } = counted();
  await reader.read("a", syntaxes.common);
  await threads[0]?.terminate();
  expect(await reader.read("`https://a.test`", syntaxes.common)).toMatchObject([{ hosts: ["a.test"] }]);
  expect(threads).toHaveLength(2);
});
