import { expect, it } from "vitest";
import { describeEvent } from "./timeline.tsx";

const tell = (kind: string, data: unknown) => describeEvent({ seq: 1, kind, at: "2026-03-02T09:15:00.000Z", data });

it("tells a step's calls with what they were given, lists and records too", () => {
  const tools = [{ name: "edit_page", input: { path: "a.md", edits: [{ old: "x", new: "y" }], count: 2 }, ok: false }];
  expect(tell("step", { number: 3, text: "Editing.", tools })).toMatchObject({
    title: "Step 3",
    text: "Editing.",
    step: 3,
    tools: [{ name: "edit_page", input: 'path: a.md, edits: [{"old":"x","new":"y"}], count: 2', ok: false }],
  });
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
