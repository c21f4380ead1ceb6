import { expect, it } from "vitest";
import type { AgentTask } from "../agent.ts";
import { handOverOf, instructionsFor } from "./run-runner.ts";

const task = { prompt: "Document the flag.", docsDir: "docs" } as AgentTask;
const followUp = { ...task, followUps: [{ prompt: "Mention the default too.", afterStep: 3 }] } as AgentTask;
const answer =
  "REPLY: Said what the default is.\nTITLE: Document the flag\nSUMMARY:\nThe page has the flag and its default.";

it("asks for a reply in a follow-up alone, with what was asked before", () => {
  expect(instructionsFor(task)).not.toContain("REPLY:");
  const asked = instructionsFor(followUp);
  expect(asked).toContain("`REPLY: `");
  expect(asked).toContain("- Document the flag.");
  expect(asked).toContain("What is asked:\nMention the default too.");
});

it("reads a follow-up's reply beside the title and summary of the whole pull request", () => {
  expect(handOverOf(answer, followUp)).toEqual({
    title: "Document the flag",
    summary: "The page has the flag and its default.",
    reply: "Said what the default is.",
  });
  expect(handOverOf(answer.replace("REPLY:", "**REPLY:**"), followUp).reply).toBe("Said what the default is.");
});

it("a first round has no reply; a follow-up without one is told by its title", () => {
  expect(handOverOf(answer, task)).not.toHaveProperty("reply");
  expect(handOverOf("TITLE: Say the default\nSUMMARY:\nDone.", followUp).reply).toBe("Say the default");
});

it("a reply or title that would load or link something is left out", () => {
  const loud = answer.replace("Said what", "![x](https://collect.example/p.png) Said what");
  expect(handOverOf(loud, followUp)).not.toHaveProperty("reply");
  const linked = answer.replace("TITLE: Document", "TITLE: https://collect.example Document");
  expect(handOverOf(linked, followUp).title).toBe("Mention the default too.");
});
