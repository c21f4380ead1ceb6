import type { PageCheck } from "./check.ts";

export const bareFence: PageCheck = {
  id: "bare-fence",
  severity: "info",
  *run({ page }) {
    for (const { line, column } of page.facts.bareFences) {
      const message = "This code block names no language; add one after the fence (`text` if it has none).";
      yield { path: page.path, line, column, message };
    }
  },
};
