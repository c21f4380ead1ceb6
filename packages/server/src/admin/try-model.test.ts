import { type FarModel, protocols, startFarModel } from "@emend/testkit/far-model.ts";
import { afterEach, expect, test } from "vitest";
import { loadConfig } from "../config/config.ts";
import { tryModel } from "./try-model.ts";

let far: FarModel | undefined;
afterEach(() => far?.stop());

test.each(protocols)("%s answers", async (name) => {
  far = await startFarModel(() => "ready");
  const config = loadConfig({ ...far.environment, EMEND_MODEL: name });
  expect(await tryModel(config)).toMatchObject({ kind: "answers", model: name });
});

test("a project's own keys are tested, with each vendor's error message", async () => {
  far = await startFarModel((_, __, number) => (number === 1 ? "ready" : { response: refused }));
  const refused = { error: { message: "this key was revoked" }, status: 401 };
  const { ANTHROPIC_API_KEY: _, OPENAI_API_KEY: __, ...environment } = far.environment;
  const config = loadConfig(environment);
  const asked: string[] = [];
  const keyOf = async (id: string, vendor: string) => `key-${asked.push(`${id} ${vendor}`)}`;
  const project = { id: "prj_1", keyOf };
  expect(await tryModel(config, "anthropic/claude-x")).toMatchObject({ kind: "unavailable" });
  expect(await tryModel(config, "anthropic/claude-x", project)).toMatchObject({ kind: "answers" });
  expect(asked).toEqual(["prj_1 anthropic"]);
  expect(await tryModel(config, "openai/gpt-5", project)).toMatchObject({
    kind: "unavailable",
    words: expect.stringContaining("this key was revoked"),
  });
});

test("errors are readable, and the rules need no key", async () => {
  far = await startFarModel(() => ({ response: { error: { message: "no such key" }, status: 401 } }));
  const config = loadConfig({ ...far.environment, EMEND_MODEL: "openai/gpt-5" });
  expect(await tryModel(config)).toMatchObject({ kind: "unavailable", words: expect.stringContaining("no such key") });
  expect(await tryModel(loadConfig({}), "anthropic/x")).toMatchObject({
    words: expect.stringContaining("ANTHROPIC_API_KEY"),
  });
  expect(await tryModel(loadConfig({}))).toMatchObject({ kind: "answers", model: "emend/rules" });
});
