import { describe, expect, it } from "vitest";
import { assertLocalForgeUsable } from "./assert-usable.ts";

describe("the local forge with roles split over processes", () => {
  it("is refused in words unless its folder is declared shared", () => {
    for (const role of ["api", "worker"] as const) {
      expect(() => assertLocalForgeUsable({ role, forgeDir: null, dataDir: "/data" })).toThrow(/EMEND_FORGE_DIR/);
      assertLocalForgeUsable({ role, forgeDir: "/shared", dataDir: "/data" });
    }
    assertLocalForgeUsable({ role: "all", forgeDir: null, dataDir: "/data" });
  });
});
