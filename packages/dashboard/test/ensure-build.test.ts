import { expect, it } from "vitest";
import { describeBuildFailure } from "../build/ensure-build.ts";

it("says why the dashboard was not built and what to do, apart from other lines", () => {
  const stderr = [
    "file:///emend/node_modules/rolldown/dist/shared/binding.mjs:582",
    '    const error = new Error("Cannot find native binding. Please try again after removing package-lock.json.");',
    "                  ^",
    "",
    "Error: Cannot find native binding. Please try again after removing package-lock.json.",
    "    at file:///emend/node_modules/rolldown/dist/shared/binding.mjs:582:19",
  ].join("\n");
  const error = Object.assign(new Error(`Command failed: node vite build\n${stderr}`), { stderr });
  const lines = describeBuildFailure(error).split("\n");
  expect(lines[0]).toBe("");
  expect(lines.at(-1)).toBe("");
  expect(lines[1]).toBe("The dashboard was not built: Error: Cannot find native binding");
  expect(lines[3]).toContain('run "npm install" again');
});
