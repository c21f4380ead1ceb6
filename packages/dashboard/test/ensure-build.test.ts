import { expect, it } from "vitest";
import { describeBuildFailure } from "../build/ensure-build.ts";

it("says why the dashboard was not built and what to do, apart from other lines", () => {
  const stderr = [
    "node:internal/modules/cjs/loader:1386",
    "  throw err;",
    "  ^",
    "",
    "Error: Cannot find module '@rolldown/binding-linux-arm64-gnu'",
    "Require stack:",
  ].join("\n");
  const error = Object.assign(new Error(`Command failed: node vite build\n${stderr}`), { stderr });
  const lines = describeBuildFailure(error).split("\n");
  expect(lines[0]).toBe("");
  expect(lines.at(-1)).toBe("");
  expect(lines[1]).toBe("The dashboard was not built: Error: Cannot find module '@rolldown/binding-linux-arm64-gnu'");
  expect(lines[3]).toContain('run "npm install" again');
});
