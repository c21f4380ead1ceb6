import { expect, it } from "vitest";
import { assertLocalForgeUsable } from "./repository.ts";

const databaseUrl = "postgres://database.example.com/emend";

it("the local forge is refused on an external database unless its folder is declared shared", () => {
  expect(() => assertLocalForgeUsable({ databaseUrl, forgeDir: null, dataDir: "/data" })).toThrow(/EMEND_FORGE_DIR/);
  assertLocalForgeUsable({ databaseUrl, forgeDir: "/shared", dataDir: "/data" });
  assertLocalForgeUsable({ databaseUrl: null, forgeDir: null, dataDir: "/data" });
});
