import { describe, expect, it } from "vitest";
import { isAppError } from "../../errors.ts";
import { resolveModel } from "./registry.ts";

describe("resolveModel", () => {
  it("knows the rules, which need nothing", () => {
    expect(resolveModel("emend/rules")).toMatchObject({ name: "emend/rules", nature: "rules" });
  });

  it.each(["anthropic/claude", "emend/other", "emend", "", "constructor/x", "__proto__"])(
    "says what to set for %j",
    (name) => {
      expect(() => resolveModel(name)).toThrow(
        expect.toSatisfy(
          (error) => isAppError(error, "model_unavailable") && error.publicMessage.includes("Set EMEND_MODEL"),
        ),
      );
    },
  );
});
