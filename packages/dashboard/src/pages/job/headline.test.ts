import type { JobDiff, JobRun } from "@emend/contract";
import { expect, it } from "vitest";
import { jobTitle } from "../../parts/format.ts";
import { headlineOf } from "./job-head.tsx";

const usage = { inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 };
const findings = { before: 3, after: 0, introducedCount: 0, fixedCount: 3, introduced: [], fixed: [] };
const pullRequest = { number: 42, url: "https://forge.test/42", state: "open", draft: false } as const;
const diff = { diff: "", files: Array.from({ length: 18 }, () => ({})) } as unknown as JobDiff;
const ended = { status: "completed", phase: "publishing", usage, findings: null, pullRequest: null, refused: null };
const say = (run: object, change?: JobDiff, rounds: object = {}) =>
  headlineOf({ run: { ...ended, ...run } as JobRun, messages: [], outcomes: [], ...rounds }, change);

it("says in one sentence how a job went", () => {
  expect(say({ pullRequest, findings, usage: { ...usage, costUsd: 0.123 } }, diff)).toBe(
    "Opened #42 · 18 files · no new findings, 3 fixed · $0.12",
  );
  expect(say({ pullRequest, findings: { ...findings, introducedCount: 1 } })).toBe(
    "Opened #42 · 1 new finding, 3 fixed",
  );
  expect(say({ pullRequest: { ...pullRequest, draft: true } })).toBe("Opened draft #42");
  expect(say({ pullRequest: { ...pullRequest, state: "merged" } })).toBe("Merged #42");
  expect(say({})).toBe("No changes");
  expect(say({ refused: "a script" })).toBe("Nothing published");
  expect(say({ status: "failed" })).toBe("Not published");
  expect(say({ status: "active", phase: "checking", pullRequest })).toBe("Comparing the site with what it was");
});

it("says that a follow-up changed nothing, before what the pull request has", () => {
  const first = { message: 0, kind: "changed", words: "Done." };
  const rounds = { messages: [{ number: 1 }], outcomes: [first, { message: 1, kind: "unchanged", words: "It is." }] };
  expect(say({ pullRequest }, diff, rounds)).toBe("No changes in follow-up 1 · Opened #42 · 18 files");
  expect(say({ status: "active", phase: "checking", pullRequest }, diff, rounds)).toMatch(/^Comparing/);
  expect(say({ pullRequest }, diff, { ...rounds, outcomes: [first, { ...first, message: 1 }] })).toMatch(/^Opened/);
});

it("keeps the prompt as the title where the change's own title says the same", () => {
  const prompt = 'Move a to b, replace "c" with "d", and fix broken links.';
  expect(jobTitle({ title: null, prompt: `${prompt}\nMore.` })).toBe(prompt);
  expect(jobTitle({ title: 'Move a to b, replace "c" with "d" and fix broken links', prompt })).toBe(prompt);
  expect(jobTitle({ title: "Move a", prompt })).toBe("Move a");
});
