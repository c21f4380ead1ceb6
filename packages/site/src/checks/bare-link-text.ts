import { type PageCheck, quoted } from "./check.ts";

export const bareLinkText: PageCheck = {
  id: "bare-link-text",
  severity: "info",
  *run({ page }) {
    for (const { here, target, line, column } of page.facts.links) {
      if (here !== true) continue;
      const message = `The text of the link to ${quoted(target)} does not say where it leads; name the destination.`;
      yield { path: page.path, line, column, message };
    }
  },
};
