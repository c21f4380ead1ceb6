import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { type FarModel, openFarModel, protocols, sameEndpoint } from "@emend/testkit/far-model.ts";
import { expect, test, vi } from "vitest";
import { costUsd } from "./prices.ts";
import { readAnswer } from "./read-answer.ts";
import { boundAnswers } from "./registry.ts";

const soon = () => AbortSignal.timeout(110_000);
const turn = { system: "x", messages: [{ role: "user", text: "x" }] as const, tools: [] };
const mebibyte = 2 ** 20;

test.each(protocols.flatMap((name) => [[name, "data: "] as const, [name, ""] as const]))(
  "%s: an answer without a line break (%j) is given up within bounds, and not asked for again",
  async (name, start) => {
    let requests = 0;
    let bytes = 0;
    const server = createServer((request, response) => {
      requests += 1;
      request.resume();
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(start);
      const chunk = Buffer.alloc(mebibyte, "x");
      const send = () => {
        if (bytes > 24 * mebibyte) response.end();
        else if (response.destroyed) return;
        else {
          bytes += chunk.length;
          response.write(chunk, send);
        }
      };
      send();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const endpoints = sameEndpoint({ apiKey: "sk-test", baseUrl: url });
    try {
      const model = await openFarModel({ endpoints } as unknown as FarModel, name);
      const fault = await model.nextTurn(turn, soon()).catch((thrown: unknown) => thrown);
      expect(fault).toMatchObject({
        code: "model_unavailable",
        retryable: false,
        publicMessage: expect.stringContaining("more than 8388608 bytes without a line break"),
      });
      expect(requests).toBe(1);
      expect(bytes).toBeLessThan(24 * mebibyte);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  },
);

test("an answer in lines is given up after 64 MiB", async () => {
  const line = Buffer.from(`${"x".repeat(mebibyte - 1)}\n`);
  function* lines(): Iterable<Uint8Array> {
    for (let count = 0; count < 80; count += 1) yield line;
  }
  const answer = await boundAnswers(async () => new Response(ReadableStream.from(lines())))("https://far.test/");
  // Only the length: a failure would print the whole text.
  await expect(answer.arrayBuffer().then((all) => all.byteLength)).rejects.toThrow("67108864 bytes");
});

const finish = (inputTotal: number, outputTotal: number): LanguageModelV4StreamPart => ({
  type: "finish",
  finishReason: { unified: "stop", raw: "stop" },
  usage: {
    inputTokens: { total: inputTotal, noCache: inputTotal, cacheRead: -5_000_000, cacheWrite: Number.NaN },
    outputTokens: { total: outputTotal, text: outputTotal, reasoning: undefined },
  },
});

function streamOf(parts: Iterable<LanguageModelV4StreamPart>): ReadableStream<LanguageModelV4StreamPart> {
  return ReadableStream.from(parts) as ReadableStream<LanguageModelV4StreamPart>;
}

test("an answer with thousands of tool calls is no answer", async () => {
  let sent = 0;
  function* calls(): Iterable<LanguageModelV4StreamPart> {
    for (; sent < 20_000; sent += 1) {
      yield { type: "tool-call", toolCallId: `${sent}`, toolName: "read_file", input: "{}" };
    }
    yield finish(1, 1);
  }
  await expect(readAnswer(streamOf(calls()))).rejects.toThrow("more than 500 tool calls");
  expect(sent).toBeLessThan(1_000);
});

test("invalid token counts refund nothing", async () => {
  const facts = { input: 1, output: 1, cachedInput: 1, cacheWrite: 1, contextTokens: 1 };
  for (const [input, output] of [
    [-1_000_000, -2],
    [Number.POSITIVE_INFINITY, Number.NaN],
  ] as const) {
    const { usage } = await readAnswer(streamOf([finish(input, output)]));
    expect(usage.inputTokens).toMatchObject({ total: 0, cacheRead: 0, cacheWrite: 0 });
    expect(usage.outputTokens).toMatchObject({ total: 0, text: 0 });
    expect(costUsd(facts, usage)).toBe(0);
  }
  const { usage } = await readAnswer(streamOf([finish(10, 0.5)]));
  expect([usage.inputTokens.total, usage.outputTokens.total]).toEqual([10, 1]);
});

test("arguments of more levels than any tool takes are left out, and said so", async () => {
  const inputs = [`${"[".repeat(100_000)}${"]".repeat(100_000)}`, '{"a":'.repeat(100_000), '{"path": "a[[[[{{{{"}'];
  const calls = inputs.map((input, index) => ({
    type: "tool-call" as const,
    toolCallId: `${index}`,
    toolName: "read_file",
    input,
  }));
  const { toolCalls } = await readAnswer(streamOf([...calls, finish(1, 1)]));
  const leftOut = "[left out: arguments of more than 50 levels]";
  expect(toolCalls.map(({ input }) => input)).toEqual([leftOut, leftOut, { path: "a[[[[{{{{" }]);
});

test("a stream's comments are a sign of life, and silence ends it", async () => {
  vi.useFakeTimers();
  try {
    let far: ReadableStreamDefaultController<Uint8Array> | undefined;
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        far = controller;
      },
    });
    const fetch: typeof globalThis.fetch = async (_, init) => {
      init?.signal?.addEventListener("abort", () => far?.error(init.signal?.reason));
      return new Response(body);
    };
    const answer = await boundAnswers(fetch, 1_000)("https://far.test/");
    const reader = answer.body?.getReader();
    for (let count = 0; count < 5; count += 1) {
      far?.enqueue(Buffer.from(": keep-alive\n\n"));
      expect((await reader?.read())?.done).toBe(false);
      await vi.advanceTimersByTimeAsync(900);
    }
    const ended = expect(reader?.read()).rejects.toThrow("the model sent nothing for 1 seconds");
    await vi.advanceTimersByTimeAsync(1_100);
    await ended;
  } finally {
    vi.useRealTimers();
  }
});

test.each(protocols)("%s: a stream that begins and falls silent is worth another try", async (name) => {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": hello\n\n");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  try {
    const endpoints = sameEndpoint({ apiKey: "sk-test", baseUrl: url });
    const model = await openFarModel({ endpoints } as unknown as FarModel, name, { silenceMsMax: 500, triesMax: 1 });
    const fault = await model.nextTurn(turn, soon()).catch((thrown: unknown) => thrown);
    const publicMessage = expect.stringContaining("sent nothing for 1 seconds");
    expect(fault).toMatchObject({ code: "model_unavailable", retryable: true, publicMessage });
  } finally {
    server.closeAllConnections();
    server.close();
  }
});

test("others have their turn while a large answer is read", async () => {
  const bytes = new TextEncoder().encode("data: x\n\n".repeat(mebibyte / 9));
  const whole = async () => new Response(new Blob([bytes]).stream());
  const response = await boundAnswers(whole)("http://model.test");
  let turns = 0;
  let isOver = false;
  const takeTurn = () => {
    turns += 1;
    if (!isOver) setImmediate(takeTurn);
  };
  setImmediate(takeTurn);
  expect((await response.arrayBuffer()).byteLength).toBe(bytes.length);
  isOver = true;
  // A turn for each 16 KiB.
  expect(turns).toBeGreaterThanOrEqual(64);
});
