import { anyText } from "@emend/testkit/any-text.ts";
import fc from "fast-check";
import { expect, it } from "vitest";
import { finishTool } from "../tools/finish.ts";
import { formatReport } from "../tools/report.ts";
import type { ToolContext } from "../tools/tool.ts";
import type { Instruction } from "./instruction.ts";
import { handOver } from "./rules-model.ts";

const scraps = [
  "![x](https://evil.example/y)",
  "`",
  "``",
  "\n",
  "<img src=x>",
  "](",
  "//a.b",
  "data:",
  "\u202e",
  "\0",
  "é",
  "word ",
  '"',
  "…",
];
const someText = fc.oneof(
  fc.array(fc.constantFrom(...scraps), { minLength: 1, maxLength: 8 }).map((parts) => parts.join("")),
  anyText({ minLength: 1, maxLength: 600 }),
);
const instruction: fc.Arbitrary<Instruction> = fc.oneof(
  fc.record({ kind: fc.constant("replace_term" as const), from: someText, to: someText, includeCode: fc.boolean() }),
  fc.record({ kind: fc.constant("move_page" as const), from: someText, to: someText }),
  fc.record({ kind: fc.constant("add_page" as const), path: someText, content: someText }),
  fc.record({ kind: fc.constant("rename_heading" as const), page: someText, from: someText, to: someText }),
);
const output = fc
  .record({
    files: fc.nat(),
    counts: fc.constant(new Map([["links", 3]])),
    skipped: fc.array(fc.record({ path: someText, line: fc.nat(), reason: someText }), { maxLength: 100 }),
    skippedMore: fc.nat(),
  })
  .map(formatReport);

it("is accepted by the tool that ends the work, whatever the instructions and the pages hold", async () => {
  const done = fc.array(fc.tuple(instruction, output), { minLength: 1, maxLength: 50 });
  await fc.assert(
    fc.asyncProperty(done, fc.boolean(), async (pairs, isFollowUp) => {
      const round = { instructions: pairs.map(([order]) => order), outputs: pairs.map(([, text]) => text) };
      const call = handOver(round, isFollowUp ? [round, round] : []);
      expect(call.name).toBe("finish");
      const answer = await finishTool.run(
        { handedOver: null, isFollowUp: true } as ToolContext,
        call.input,
        new AbortController().signal,
      );
      expect(answer).toEqual({ kind: "answer", text: "handed over" });
    }),
    { numRuns: 200 },
  );
});

it("says how many links have no certain fix, where some do and where none does", () => {
  const skipped = [1, 2].map((line) => ({ path: "a.md", line, reason: "leads nowhere" }));
  const summaryOf = (files: number, skippedMore: number) => {
    const report = formatReport({ files, counts: new Map([["links", files]]), skipped, skippedMore });
    return String(handOver({ instructions: [{ kind: "fix_links" }], outputs: [report] }).input.summary);
  };
  expect(summaryOf(0, 1)).toMatch(/^None of the 3 broken links has a certain fix\./);
  expect(summaryOf(0, 1)).toContain("- `fix broken links`: 3 links without a certain fix");
  expect(summaryOf(1, 0)).toContain("- `fix broken links`: 1 link, in 1 file; 2 links without a certain fix");
});

it("stays short enough for fifty long instructions", async () => {
  const long = "x".repeat(600);
  const orders: Instruction[] = Array.from({ length: 50 }, () => ({ kind: "move_page", from: long, to: long }));
  const skipped = Array.from({ length: 100 }, () => ({ path: long, line: 1, reason: long }));
  const report = formatReport({ files: 1, counts: new Map([["links", 1]]), skipped, skippedMore: 1 });
  const call = handOver({ instructions: orders, outputs: orders.map(() => report) });
  const answer = await finishTool.run(
    { handedOver: null, isFollowUp: true } as ToolContext,
    call.input,
    new AbortController().signal,
  );
  expect(answer).toEqual({ kind: "answer", text: "handed over" });
});
