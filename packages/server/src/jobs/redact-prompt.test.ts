import { expect, it } from "vitest";
import { redactPrompt, redactWithinQuota } from "./redact-prompt.ts";

const github = ["ghp", "_", "0123456789abcdefABCDEF0123456789abcd"].join("");

it.each([
  [`Say that ${github} is the token.`, "Say that [redacted: github] is the token."],
  [`Use emend_${"aB3".repeat(16)} in the example.`, "Use [redacted: emend] in the example."],
  ["Clone https://ada:pa55w0rd@git.test/x first.", expect.not.stringContaining("pa55w0rd")],
  [`a\n${github}\nb`, "a\n[redacted: github]\nb"],
])("a credential in a prompt is taken out: %s", async (prompt, kept) => {
  expect(await redactPrompt(prompt)).toEqual(kept);
});

it("other prompts are kept as they are", async () => {
  for (const prompt of [
    " ",
    "Move guides/auth to security/authentication2026-and-more-of-the-same.",
    'Replace "API token" with "access key" in https://docs.test/a/very/long/path/2026/index.html',
    "x".repeat(100_000),
  ]) {
    expect(await redactPrompt(prompt)).toBe(prompt);
  }
});

it.each(["://", "x", "emend_", "a@b://", "-----BEGIN ", "1"])(
  "a prompt made to be slow to look at is not: %s",
  async (part) => {
    const prompt = part.repeat(Math.floor(500_000 / part.length));
    expect(await redactPrompt(prompt)).toBe(prompt);
  },
);

it("a prompt is searched only while the project's quota has room", async () => {
  const use = { projectId: "prj_1", kind: "create", usesMax: 1, windowMs: 1_000 } as const;
  const withRoom = (hasRoom: boolean) => ({ query: async () => ({ rows: [{ has_room: hasRoom }] }) }) as never;
  expect(await redactWithinQuota(withRoom(false), use, `Use ${github}.`)).toBeNull();
  expect(await redactWithinQuota(withRoom(true), use, `Use ${github}.`)).toBe("Use [redacted: github].");
});
