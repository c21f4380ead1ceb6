import { type OwnCheck, quoted } from "./check.ts";

export const headingJump: OwnCheck = {
  id: "heading-jump",
  severity: "info",
  *run(facts) {
    let previous = 0;
    for (const { level, text, line, column } of facts.headings) {
      if (previous > 0 && level > previous + 1) {
        const message = `${quoted(text)} is a heading of level ${level} below one of level ${previous}; use level ${previous + 1}.`;
        yield { line, column, message };
      }
      previous = level;
    }
  },
};
