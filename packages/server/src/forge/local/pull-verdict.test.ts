import { expect, it } from "vitest";
import { pullVerdict } from "./pull-verdict.ts";

const pull = {
  state: "open",
  draft: false,
  checks: [{ name: "Policy", verdict: "passed", detail: "All changed paths are allowed" }],
  mergeability: { kind: "clean", head: "c" },
  statuses: [{ name: "emend", state: "neutral", words: "1 finding", url: "" }],
  reviews: [],
  approvalsMin: 0,
  requiredStatus: null as string | null,
} as const;
const flagged = { name: "Findings", verdict: "flagged", detail: "1 new error" } as const;
const reviewOf = (state: "approved" | "changes_requested" | "requested", isCurrent = true) =>
  ({ reviewer: "ada@example.com", name: "Ada", state, isCurrent, at: null }) as const;
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
  ["review", { reviews: [reviewOf("changes_requested", false)] }],
  ["ready", { reviews: [reviewOf("approved"), reviewOf("requested")], approvalsMin: 1 }],
  ["blocked", { approvalsMin: 1 }],
  ["blocked", { reviews: [reviewOf("approved", false)], approvalsMin: 1 }],
  ["blocked", { reviews: [reviewOf("approved")], approvalsMin: 2 }],
  ["blocked", { reviews: [reviewOf("approved"), reviewOf("changes_requested", false)], approvalsMin: 1 }],
  ["draft", { draft: true, approvalsMin: 1 }],
  ["ready", { requiredStatus: "emend" }],
  ["blocked", { requiredStatus: "docs" }],
  ["blocked", { requiredStatus: "emend", statuses: [{ ...failed, state: "pending" }] }],
  ["ready", { statuses: [{ ...failed, state: "pending" }] }],
  ["contained", { mergeability: { kind: "contained" }, checks: [flagged] }],
] as const)("%s: %j", (kind, more) => {
  expect(pullVerdict({ ...pull, ...more })).toMatchObject({ kind });
});

it("says what blocks, and what to review", () => {
  expect(pullVerdict({ ...pull, statuses: [failed] }).words).toBe("emend failed: 1 error");
  expect(pullVerdict({ ...pull, checks: [flagged] }).words).toBe("Findings: 1 new error");
  const reviews = [reviewOf("changes_requested")];
  expect(pullVerdict({ ...pull, checks: [flagged], reviews }).words).toBe(
    "Ada requested changes. Findings: 1 new error",
  );
  expect(pullVerdict({ ...pull, requiredStatus: "docs" }).words).toBe("docs has not checked the newest commit yet.");
  expect(pullVerdict({ ...pull, approvalsMin: 1 }).words).toBe("The newest commit needs an approval.");
  expect(pullVerdict({ ...pull, approvalsMin: 2, reviews: [reviewOf("approved")] }).words).toBe(
    "The newest commit needs 2 approvals. It has 1.",
  );
});
