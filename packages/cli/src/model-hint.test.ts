import { expect, test } from "vitest";
import { demoEnvironment } from "./demo/run-demo.ts";
import { modelHint } from "./model-hint.ts";

test("names the setting that would use a vendor's key, and never the key", async () => {
  const hint = await modelHint({ OPENAI_API_KEY: "sk-secret" });
  expect(hint).toBe("OPENAI_API_KEY is set and not used: EMEND_MODEL=openai/gpt-5 would use it");
  expect(await modelHint({ ANTHROPIC_API_KEY_FILE: "/run/secrets/key" })).toContain("EMEND_MODEL=anthropic/");
});

test("is silent without a key, or once a model is chosen", async () => {
  expect(await modelHint({})).toBeNull();
  expect(await modelHint({ OPENAI_API_KEY: "sk-secret", EMEND_MODEL: "emend/rules" })).toBeNull();
});

test("the demo heeds no configuration but the choice of a model", () => {
  const env = demoEnvironment({ EMEND_DATABASE_URL: "postgres://live", EMEND_MODEL: "openai/x", PATH: "/bin" });
  expect(env).toEqual({ EMEND_MODEL: "openai/x", PATH: "/bin", EMEND_LOG_LEVEL: "silent" });
});
