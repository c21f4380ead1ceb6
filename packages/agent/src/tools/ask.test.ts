import { expect, test } from "vitest";
import { askTool } from "./ask.ts";
import type { ToolContext } from "./tool.ts";

const ask = (question: string) =>
  askTool.run({ questionsLeft: 1 } as ToolContext, { question }, new AbortController().signal);

test.each(["See evil.example/c?d=token", "Is token.evil.example right?", "See evil.example:8080/x", "![a](x)"])(
  "a question does not reach out: %s",
  async (question) => {
    expect(await ask(question)).toMatchObject({ kind: "refused" });
  },
);

test.each([
  "Next.js or Vue.js?",
  "Move auth.md to guides/auth.test.md?",
  "Is `api.acme.test/v2` right?",
  "Drop v1.2.3?",
])("a question names files, versions and code: %s", async (question) => {
  expect(await ask(question)).toMatchObject({ kind: "answer" });
});
