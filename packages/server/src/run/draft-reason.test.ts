import { expect, test } from "vitest";
import { draftReasonOf } from "./create-stages.ts";
import type { ReviewedChange } from "./run.ts";

const change = (more: Partial<ReviewedChange> = {}) =>
  ({ limitReached: null, unanswered: [], verdict: { kind: "passed", introduced: [] }, ...more }) as ReviewedChange;

test("a draft says why it is a draft", () => {
  expect(draftReasonOf(change(), { job: true, project: false })).toBe("The job asked for a draft.");
  expect(draftReasonOf(change(), { job: null, project: true })).toContain("This project");
  expect(draftReasonOf(change(), { job: false, project: true })).toBeUndefined();
  expect(draftReasonOf(change({ limitReached: "timeout" }), { job: true, project: true })).toContain("time limit");
});

test("a change that rests on a guess is a draft that quotes the question", () => {
  const reason = draftReasonOf(change({ unanswered: ["Which port?"] }), { job: false, project: false });
  expect(reason).toContain("best guess: Which port?");
});

test("a disputed finding is for a person to decide", () => {
  const introduced = [{ path: "a.md", dispute: "the host serves this address" }];
  const verdict = { kind: "flagged", introduced } as unknown as ReviewedChange["verdict"];
  expect(draftReasonOf(change({ verdict }), { job: false, project: false })).toContain("Review both sides");
});

test("a move with links that could not be updated is reported, after the errors", () => {
  const reasonFor = (...severities: string[]) => {
    const introduced = severities.map((severity) => ({ path: "a.md", severity }));
    const verdict = { kind: "flagged", introduced } as unknown as ReviewedChange["verdict"];
    return draftReasonOf(change({ verdict }), { job: false, project: false });
  };
  expect(reasonFor("warning")).toContain("no link to it could be updated");
  expect(reasonFor("warning", "error")).toContain("found errors");
});
