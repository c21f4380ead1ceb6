import { isFault } from "@emend/base/fault.ts";
import { describe, expect, it } from "vitest";
import { type ModelsDeps, openModel } from "./registry.ts";

const deps: ModelsDeps = {
  endpoints: { openai: { apiKey: "sk-installation", baseUrl: null } },
  prices: {},
  fetch: globalThis.fetch,
  keyOf: async (projectId) => (projectId === "prj_own" ? "sk-own" : null),
};
const refused = (words: string) =>
  expect.toSatisfy((error) => isFault(error, "model_unavailable") && error.publicMessage.includes(words));

describe("openModel", () => {
  it("knows the rules, which need nothing", async () => {
    const model = await openModel(deps, { name: "emend/rules", projectId: null });
    expect(model).toMatchObject({ name: "emend/rules", nature: "rules" });
  });

  it.each(["emend/other", "emend", "", "openai/", "/x", "constructor/x", "__proto__", "other/model"])(
    "says which names there are for %j",
    async (name) => {
      await expect(openModel(deps, { name, projectId: null })).rejects.toThrow(refused("Set EMEND_MODEL"));
    },
  );

  it.each([
    ["anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"],
    ["google/gemini-2.5-pro", "GOOGLE_GENERATIVE_AI_API_KEY"],
    ["compatible/llama", "EMEND_COMPATIBLE_BASE_URL"],
  ])("says what %s needs", async (name, variable) => {
    await expect(openModel(deps, { name, projectId: "prj_other" })).rejects.toThrow(refused(variable));
  });

  it("takes a server of one's own to have a window of 128k, unless a setting says another", async () => {
    const endpoints = { compatible: { apiKey: null, baseUrl: "http://127.0.0.1:1/v1" } };
    const named = { name: "compatible/llama", projectId: null };
    expect((await openModel({ ...deps, endpoints }, named)).contextTokensMax).toBe(128_000);
    const prices = { "compatible/": { input: 0, output: 0, contextTokens: 40_000 } };
    expect((await openModel({ ...deps, endpoints, prices }, named)).contextTokensMax).toBe(40_000);
  });

  it("takes a project's own key where the installation has none", async () => {
    const model = await openModel(deps, { name: "anthropic/claude-sonnet-4-5", projectId: "prj_own" });
    expect(model).toMatchObject({ name: "anthropic/claude-sonnet-4-5", nature: "language", contextTokensMax: 200_000 });
  });
});
