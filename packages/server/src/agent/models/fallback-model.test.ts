import { expect, test } from "vitest";
import { scriptedModel } from "../../../test/support/scripted-model.ts";
import { AppError } from "../../errors.ts";
import type { Model } from "../agent.ts";
import { createFallbackModel } from "./fallback-model.ts";

const away = (name: string, retryable: boolean): Model => ({
  name,
  nature: "language",
  async nextTurn() {
    throw new AppError("model_unavailable", { publicMessage: `${name} is away`, retryable });
  },
});
const turn = { system: "", messages: [], tools: [] };
const { signal } = new AbortController();

test("the next model answers where the first is away, and says so", async () => {
  const model = createFallbackModel([away("a/first", false), scriptedModel(() => "Here.")]);
  expect(model.name).toBe("a/first");
  expect(await model.nextTurn(turn, signal)).toMatchObject({ text: "Here.", usage: { model: "test/scripted" } });
});

test("with all away the fault is worth a later try if any of them is", async () => {
  const model = createFallbackModel([away("a/first", false), away("b/second", true)]);
  await expect(model.nextTurn(turn, signal)).rejects.toMatchObject({
    publicMessage: "b/second is away",
    retryable: true,
  });
  const hopeless = createFallbackModel([away("a/first", false), away("b/second", false)]);
  await expect(hopeless.nextTurn(turn, signal)).rejects.toMatchObject({ publicMessage: "a/first is away" });
});
