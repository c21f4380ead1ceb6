import type { OwnCheck } from "./check.ts";

export const bareFence: OwnCheck = {
  id: "bare-fence",
  severity: "info",
  *run(facts) {
    for (const { line, column } of facts.bareFences) {
      const message = "This code block names no language; add one after the fence (`text` if it has none).";
      yield { line, column, message };
    }
  },
};
