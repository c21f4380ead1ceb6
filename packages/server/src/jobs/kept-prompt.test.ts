import { expect, it } from "vitest";
import { keptPrompt } from "./kept-prompt.ts";

const github = ["ghp", "_", "0123456789abcdefABCDEF0123456789abcd"].join("");

it.each([
  [`Say that ${github} is the token.`, "Say that [redacted: github] is the token."],
  [`Use emend_${"aB3".repeat(16)} in the example.`, "Use [redacted: emend] in the example."],
  ["Clone https://ada:pa55w0rd@git.test/x first.", expect.not.stringContaining("pa55w0rd")],
  [`a\n${github}\nb`, "a\n[redacted: github]\nb"],
])("a credential in a prompt is taken out: %s", async (prompt, kept) => {
  expect(await keptPrompt(prompt)).toEqual(kept);
});

it("other prompts are kept as they are", async () => {
  for (const prompt of [
    " ",
    "Move guides/auth to security/authentication2026-and-more-of-the-same.",
    'Replace "API token" with "access key" in https://docs.test/a/very/long/path/2026/index.html',
    "x".repeat(100_000),
  ]) {
    expect(await keptPrompt(prompt)).toBe(prompt);
  }
});

it.each(["://", "x", "emend_", "a@b://", "-----BEGIN ", "1"])(
  "a prompt made to be slow to look at is not: %s",
  async (part) => {
    const prompt = part.repeat(Math.floor(500_000 / part.length));
    expect(await keptPrompt(prompt)).toBe(prompt);
  },
);
