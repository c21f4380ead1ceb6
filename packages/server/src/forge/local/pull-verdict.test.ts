import { expect, it } from "vitest";
import { pullVerdict } from "./pull-verdict.ts";

const pull = {
  state: "open",
  draft: false,
  checks: [{ name: "Policy", verdict: "passed", detail: "All changed paths are allowed" }],
  mergeability: { kind: "clean", head: "c" },
  statuses: [{ name: "emend", state: "neutral", words: "1 finding", url: "" }],
} as const;
const flagged = { name: "Findings", verdict: "flagged", detail: "1 new error" } as const;
const failed = { name: "emend", state: "failed", words: "1 error", url: "" } as const;

it.each([
  ["ready", {}],
  ["merged", { state: "merged" }],
  ["closed", { state: "closed", draft: true }],
  ["draft", { draft: true, checks: [flagged] }],
  ["review", { checks: [flagged] }],
  ["blocked", { statuses: [failed], checks: [flagged] }],
  ["blocked", { statuses: [failed], draft: true }],
  ["blocked", { mergeability: { kind: "blocked", reason: "The branch is gone." } }],
  ["conflicts", { mergeability: { kind: "conflicts", paths: ["a.md"] }, statuses: [failed] }],
  ["contained", { mergeability: { kind: "contained" }, checks: [flagged] }],
] as const)("%s: %j", (kind, more) => {
  expect(pullVerdict({ ...pull, ...more })).toMatchObject({ kind });
});

it("says what blocks, and what to review", () => {
  expect(pullVerdict({ ...pull, statuses: [failed] }).words).toBe("emend failed: 1 error");
  expect(pullVerdict({ ...pull, checks: [flagged] }).words).toBe("Findings: 1 new error");
});
