import { type OwnCheck, quoted } from "./check.ts";

export const bareLinkText: OwnCheck = {
  id: "bare-link-text",
  severity: "info",
  *run(facts) {
    for (const { here, target, line, column } of facts.links) {
      if (here !== true) continue;
      const message = `The text of the link to ${quoted(target)} does not say where it leads; name the destination.`;
      yield { line, column, message };
    }
  },
};
