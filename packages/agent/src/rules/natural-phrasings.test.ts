import { refusedWith, understoodAs } from "@emend/testkit/rules/natural.ts";
import { describe, expect, it } from "vitest";
import { nearestExamples } from "./hints.ts";
import { describeInstruction } from "./instruction.ts";
import { parsePrompt } from "./parse-prompt.ts";

describe(`${understoodAs.length + refusedWith.length} phrasings as people write them`, () => {
  it.each(understoodAs)("%s → %s", (prompt, order) => {
    const parsed = parsePrompt(prompt);
    expect(parsed).toMatchObject({ kind: "understood" });
    if (parsed.kind === "understood") expect(parsed.instructions.map(describeInstruction).join("; ")).toBe(order);
  });

  it.each(refusedWith)("refuses %s, and shows %j", (prompt, example) => {
    const parsed = parsePrompt(prompt);
    if (parsed.kind === "understood") throw new Error(`understood: ${JSON.stringify(parsed.instructions)}`);
    const shown = nearestExamples(parsed.clause);
    expect(shown.length > 2 ? "" : shown[0]).toBe(example);
  });
});
