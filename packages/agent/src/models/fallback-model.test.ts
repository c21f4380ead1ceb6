import { scriptedModel } from "@emend/testkit/scripted-model.ts";
import { expect, test } from "vitest";
import type { Model } from "../agent.ts";
import { AgentFault } from "../faults.ts";
import { createFallbackModel } from "./registry.ts";

const away = (name: string, retryable: boolean, retryAfterMs?: number): Model => ({
  name,
  nature: "language",
  async nextTurn() {
    throw new AgentFault("model_unavailable", {
      publicMessage: `${name} is away`,
      retryable,
      ...(retryAfterMs && { retryAfterMs }),
    });
  },
});
const turnInput = { system: "", messages: [], tools: [] };
const { signal } = new AbortController();

test("the next model answers if the first is unavailable, and the answer says so", async () => {
  const model = createFallbackModel([away("a/first", false), scriptedModel(() => "Here.")]);
  expect(model.name).toBe("a/first");
  expect(await model.nextTurn(turnInput, signal)).toMatchObject({ text: "Here.", usage: { model: "test/scripted" } });
});

test("with all away the fault is worth a later try if any of them is", async () => {
  const model = createFallbackModel([away("a/first", false), away("b/second", true)]);
  await expect(model.nextTurn(turnInput, signal)).rejects.toMatchObject({
    publicMessage: "b/second is away",
    retryable: true,
  });
  const hopeless = createFallbackModel([away("a/first", false), away("b/second", false)]);
  await expect(hopeless.nextTurn(turnInput, signal)).rejects.toMatchObject({ publicMessage: "a/first is away" });
});

test("models are asked in the order of the list; one that is away rests, as long as its vendor said", async () => {
  const asked: string[] = [];
  let nowMs = 0;
  const noting = (model: Model, name: string): Model => ({
    ...model,
    async nextTurn(input, stop) {
      asked.push(name);
      return model.nextTurn(input, stop);
    },
  });
  const here = scriptedModel(() => "Here.");
  const model = createFallbackModel(
    [
      noting(away("a/first", true, 120_000), "first"),
      noting(away("b/second", false), "second"),
      noting(away("c/third", true), "third"),
      noting(here, "fourth"),
      noting(here, "fifth"),
    ],
    () => nowMs,
  );
  const turnAt = async (ms: number) => {
    nowMs = ms;
    await model.nextTurn(turnInput, signal);
    return asked.splice(0);
  };
  expect(await turnAt(0)).toEqual(["first", "second", "third", "fourth"]);
  expect(await turnAt(59_999)).toEqual(["fourth"]);
  expect(await turnAt(60_000)).toEqual(["third", "fourth"]);
  expect(await turnAt(119_999)).toEqual(["fourth"]);
  expect(await turnAt(120_000)).toEqual(["first", "third", "fourth"]);
});
