import type { DashboardReading } from "@emend/contract";
import { rulesModelName } from "../../lib/model-names.ts";
import { shown } from "../shown.ts";
import { describeInstruction } from "./describe.ts";
import { nearestExamples } from "./not-understood.ts";
import { parsePrompt } from "./parse-prompt.ts";

const wordsMax = 300;

/** Shows how the rules understand an instruction while it is written. Runs nothing and reads nothing from the site. */
export function readPrompt(model: string, prompt: string): DashboardReading {
  if (model !== rulesModelName) return { kind: "free" };
  const parsed = parsePrompt(prompt);
  if (parsed.kind === "understood") {
    return {
      kind: "understood",
      orders: parsed.instructions.map((each) => shown(describeInstruction(each), wordsMax)),
    };
  }
  const { clause, reason } = parsed;
  return {
    kind: "not_understood",
    clause: shown(clause, wordsMax),
    reason: shown(reason, wordsMax),
    examples: nearestExamples(clause),
  };
}
