import { type PageCheck, quoted } from "./check.ts";

export const headingJump: PageCheck = {
  id: "heading-jump",
  severity: "info",
  *run({ page }) {
    let previous = 0;
    for (const { level, text, line, column } of page.facts.headings) {
      if (previous > 0 && level > previous + 1) {
        const message = `${quoted(text)} is a heading of level ${level} below one of level ${previous}; use level ${previous + 1}.`;
        yield { path: page.path, line, column, message };
      }
      previous = level;
    }
  },
};
