import { Type } from "typebox";
import { expect, it } from "vitest";
import { createApiClient } from "./api-client.ts";
import { createAnswerMemory, startPolling } from "./polling.ts";

const answer = (etag: string) => new Headers({ etag, link: '<x>; rel="next"', "set-cookie": "no" });

it("keeps answers that have an ETag, with what tells of further pages, and no more than it may", () => {
  const memory = createAnswerMemory({ sizeMax: 1000 });
  memory.remember("none", new Headers(), "x");
  expect(memory.recall("none")).toBeUndefined();
  for (let number = 0; number < 500; number += 1) {
    memory.remember(`key ${number}`, answer('"a"'), "x".repeat(100));
    // The first one is used again and again, so it stays.
    if (number > 0) expect(memory.recall("key 0")).toBeDefined();
  }
  const kept = Array.from({ length: 500 }, (_, number) => memory.recall(`key ${number}`)).filter(Boolean);
  expect(kept.length).toBeGreaterThan(4);
  expect(kept.length).toBeLessThan(11);
  expect([...(memory.recall("key 499")?.headers.keys() ?? [])]).toEqual(["link"]);
  memory.remember("huge", answer('"a"'), "x".repeat(2000));
  expect(memory.recall("huge")).toBeUndefined();
  // It does not evict others.
  expect(memory.recall("key 499")).toBeDefined();
  // An answer without an ETag replaces one with an ETag.
  memory.remember("key 0", new Headers(), "y");
  expect(memory.recall("key 0")).toBeUndefined();
});

it("keeps the answers of projects apart", () => {
  const memory = createAnswerMemory();
  startPolling(memory, "prj_a").remember("key", answer('"a"'), 1);
  expect(startPolling(memory, "prj_b").recall("key")).toBeUndefined();
  expect(startPolling(memory, "prj_a").recall("key")).toMatchObject({ value: 1 });
});

it("costs 1.2 s per request without a known limit, and almost nothing for free requests", () => {
  const polling = startPolling(createAnswerMemory(), "prj_a");
  for (const isFree of [false, false, true]) polling.count(new Headers(), isFree);
  expect(polling.cost()).toEqual({ spentMs: 2_400, pauseMs: 0 });
  const bitbucket = startPolling(createAnswerMemory(), "prj_a");
  for (const isFree of [false, false, true])
    bitbucket.count(new Headers({ "x-ratelimit-limit": "1000" }), isFree, 1000);
  expect(bitbucket.cost()).toEqual({ spentMs: 9_600, pauseMs: 0 });
  const idle = startPolling(createAnswerMemory(), "prj_a");
  idle.count(new Headers(), true);
  expect(idle.cost()).toEqual({ spentMs: 100, pauseMs: 0 });
});

it("goes on rarely below the reserve, and pauses until the reset when nothing is left", () => {
  const pauseMsAt = (remaining: number) => {
    const polling = startPolling(createAnswerMemory(), "prj_a");
    const told = { "x-ratelimit-limit": "5000", "x-ratelimit-remaining": `${remaining}`, "x-ratelimit-reset": "3600" };
    polling.count(new Headers(told), false);
    return polling.cost(0).pauseMs;
  };
  expect([5000, 1250, 1, 0].map(pauseMsAt)).toEqual([0, 300_000, 300_000, 3_600_000]);
});

it.each([1, 2, 7])("leaves a quarter of the limit to jobs with %d nodes at work", (nodes) => {
  const limit = 5000;
  let remaining = limit;
  // Without a shared budget, each node would poll as often as one bucket allows.
  let nowMs = 0;
  const nextMs = Array.from({ length: nodes }, () => 0);
  for (; nowMs < 3_600_000; nowMs = Math.min(...nextMs)) {
    const node = nextMs.indexOf(nowMs);
    const polling = startPolling(createAnswerMemory(), "prj_a");
    for (let request = 0; request < 4; request += 1) {
      remaining -= 1;
      const told = { "x-ratelimit-limit": limit, "x-ratelimit-remaining": remaining, "x-ratelimit-reset": 3600 };
      polling.count(new Headers(Object.entries(told).map(([name, value]) => [name, String(value)])), false);
    }
    const { spentMs, pauseMs } = polling.cost(nowMs);
    nextMs[node] = nowMs + Math.max(spentMs, pauseMs, 1);
  }
  expect(remaining).toBeGreaterThanOrEqual(limit * 0.25 - 20 * nodes);
  expect(remaining).toBeLessThan(limit * 0.3);
});

it("takes no answer to one question for the answer to another at the same address", async () => {
  const body = async function* () {
    yield Buffer.from('{"title": "T", "body": "B"}');
  };
  const polling = startPolling(createAnswerMemory(), "prj_a");
  const api = createApiClient({
    forge: "Far",
    apiUrl: "https://far.test",
    authorization: async () => null,
    polling,
    async fetch(_url, { headers }) {
      const isKnown = "if-none-match" in headers;
      return { status: isKnown ? 304 : 200, headers: answer('"a"'), body: isKnown ? null : body() };
    },
  });
  const { signal } = new AbortController();
  const ask = (name: "title" | "body") =>
    api.call(
      { method: "GET", path: "/x", answer: Type.Object({ [name]: Type.String() }), what: `read its ${name}` },
      signal,
    );
  for (let times = 0; times < 2; times += 1) {
    expect(await ask("title")).toMatchObject({ title: "T" });
    expect(await ask("body")).toMatchObject({ body: "B" });
  }
});
