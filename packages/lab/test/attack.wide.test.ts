import { createTestDatabase } from "@emend/testkit/database.ts";
import { expect, it } from "vitest";
import { tryMatrix } from "../attack/experiments.ts";
import { startInstallation } from "../attack/installation.ts";
import { isRight, matrixOf } from "../attack/matrix.ts";

it("every route of a running server has a row, and answers each caller as the row says", async () => {
  const database = await createTestDatabase();
  const host = await startInstallation(database.url);
  try {
    await tryMatrix(host);
    const { missing } = matrixOf([...host.routes, "POST /v2/agent/:projectId/new"]);
    expect(missing).toEqual(["POST /v2/agent/:projectId/new"]);
    const { stale } = matrixOf(host.routes.filter((route) => route !== "POST /mcp"));
    expect(stale).toEqual(["POST /mcp"]);
  } finally {
    await host.stop();
    await database.drop();
  }
});

it("an allowed caller gets neither a refusal nor a server error", () => {
  expect([200, 404, 400, 401, 403, 500].map((status) => isRight("in", status))).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ]);
  expect(isRight(404, 401)).toBe(false);
});
