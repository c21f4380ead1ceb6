import { once } from "node:events";
import { expect, test } from "vitest";
import { openPageReader } from "./page-reader.ts";
import { createPageThreads } from "./page-threads.ts";

test("a thread serves one reader after the other, and never two at once", async () => {
  const threads = createPageThreads();
  const first = openPageReader(threads);
  expect(await first.read("a.md", "`https://a.test`")).toMatchObject({ shown: [{}] });
  await first.close();
  const thread = threads.take();
  const other = threads.take();
  expect(other).not.toBe(thread);
  threads.giveBack(thread);
  const next = openPageReader(threads);
  expect(await next.read("a.md", "`https://a.test` `https://b.test`")).toMatchObject({ shown: [{}, {}] });
  await next.close();
  expect(threads.take()).toBe(thread);
  await Promise.all([thread.terminate(), other.terminate()]);
});

test("a thread that a page kept busy answers nobody else", async () => {
  const threads = createPageThreads();
  const busy = threads.take();
  threads.giveBack(busy);
  const reader = openPageReader(threads, { pageMsMax: 1 });
  expect(await reader.read("a.md", "`https://a.test`")).toBeNull();
  await reader.close();
  const next = openPageReader(threads);
  expect(await next.read("a.md", "`https://a.test` `https://b.test`")).toMatchObject({ shown: [{}, {}] });
  await next.close();
  const kept = threads.take();
  expect(kept).not.toBe(busy);
  await kept.terminate();
});

test("a thread that ended while it waited is not taken, and no more are kept than may be", async () => {
  const threads = createPageThreads();
  const taken = [threads.take(), threads.take(), threads.take()];
  const [first, , last] = taken;
  const surplus = once(last as NonNullable<typeof last>, "exit");
  for (const thread of taken) threads.giveBack(thread);
  await surplus;
  await first?.terminate();
  const kept = threads.take();
  expect(kept).toBe(taken[1]);
  await kept.terminate();
});
