import { type PageCheck, quoted } from "./check.ts";

export const imageAlt: PageCheck = {
  id: "image-alt",
  severity: "warning",
  *run({ page }) {
    for (const { noAlt, target, line, column } of page.facts.links) {
      if (noAlt !== true) continue;
      const message = `The image ${quoted(target)} has no alternative text; say what it shows.`;
      yield { path: page.path, line, column, message };
    }
  },
};
