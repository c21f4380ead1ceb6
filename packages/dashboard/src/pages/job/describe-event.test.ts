import type { JobEvent } from "@emend/contract";
import { expect, it } from "vitest";
import { describeEvent } from "./timeline.tsx";

const tell = (kind: string, data: unknown) =>
  describeEvent({ seq: 1, kind, at: "2026-03-02T09:15:00.000Z", data } as JobEvent);

it("tells a step's calls with what they were given, lists and records too", () => {
  const tools = [{ name: "edit_page", input: { path: "a.md", edits: [{ old: "x", new: "y" }], count: 2 }, ok: false }];
  expect(tell("step", { number: 3, text: "Editing.", tools })).toMatchObject({
    title: "Step 3",
    text: "Editing.",
    step: 3,
    tools: [{ name: "edit_page", input: 'path: a.md, edits: [{"old":"x","new":"y"}], count: 2', ok: false }],
  });
});

it("names a step by what it did", () => {
  const tools = [
    { name: "read_file", input: { paths: ["guides/retries.mdx"] }, ok: true },
    { name: "edit_file", input: { path: "quickstart.mdx" }, ok: true },
    { name: "edit_file", input: { path: "quickstart.mdx" }, ok: true },
    { name: "write_file", input: { path: "elsewhere.mdx" }, ok: false },
    { name: "replace_term", input: { from: "API token", to: "access key" }, ok: true },
    { name: "search", input: { pattern: "token" }, ok: true },
  ];
  expect(tell("step", { number: 3, tools, files: [] }).title).toBe(
    "Read guides/retries.mdx, edited quickstart.mdx, replaced API token → access key, and 1 more",
  );
});

it("does not say that a step replaced what it did not find", () => {
  const tools = [{ name: "replace_term", input: { from: "API token", to: "access key" }, ok: true }];
  expect(tell("step", { number: 1, tools }).title).toBe("Found nothing to replace: API token → access key");
});

it("tells a failure in words, and an unknown one by its code", () => {
  expect(tell("failed", { code: "policy_denied" })).toMatchObject({
    title: "Failed",
    text: "The project's policy forbids this change",
  });
  expect(tell("completed", { code: "timeout" }).text).toBe("The job reached its time limit");
  expect(tell("failed", { code: "cancelled" })).toMatchObject({ title: "Cancelled", text: "" });
  expect(tell("failed", { code: "moon_full" }).text).toBe("moon_full");
});

it("tells what it does not understand by its name, and data of another shape by nothing", () => {
  expect(tell("dreamt", { of: "sheep" })).toMatchObject({ title: "dreamt", text: "", tools: [] });
  expect(tell("step", { truncated: true })).toMatchObject({ title: "Step ", text: "", tools: [] });
  expect(tell("phase", { phase: "queued", reason: "retry", message: "Gitea did not answer at x.test." })).toMatchObject(
    {
      text: "Gitea did not answer at x.test. Emend will retry.",
    },
  );
  expect(tell("findings", null)).toMatchObject({ title: "Checked", text: "" });
});
