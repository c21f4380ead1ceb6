import { afterEach, expect, test } from "vitest";
import { type FarModel, protocols, startFarModel } from "../test/support/far-model.ts";
import { loadConfig } from "./config.ts";
import { tryModel } from "./try-model.ts";

let far: FarModel | undefined;
afterEach(() => far?.stop());

test.each(protocols)("%s answers", async (name) => {
  far = await startFarModel(() => "ready");
  const config = loadConfig({ ...far.environment, EMEND_MODEL: name });
  expect(await tryModel(config)).toMatchObject({ kind: "answers", model: name });
});

test("what is wrong is told in words, and the rules need nothing", async () => {
  far = await startFarModel(() => ({ response: { error: { message: "no such key" }, status: 401 } }));
  const config = loadConfig({ ...far.environment, EMEND_MODEL: "openai/gpt-5" });
  expect(await tryModel(config)).toMatchObject({ kind: "unavailable", words: expect.stringContaining("no such key") });
  expect(await tryModel(loadConfig({}), "anthropic/x")).toMatchObject({
    words: expect.stringContaining("ANTHROPIC_API_KEY"),
  });
  expect(await tryModel(loadConfig({}))).toMatchObject({ kind: "answers", model: "emend/rules" });
});
