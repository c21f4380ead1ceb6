import { type OwnCheck, quoted } from "./check.ts";

export const imageAlt: OwnCheck = {
  id: "image-alt",
  severity: "warning",
  *run(facts) {
    for (const { noAlt, target, line, column } of facts.links) {
      if (noAlt !== true) continue;
      const message = `The image ${quoted(target)} has no alternative text; say what it shows.`;
      yield { line, column, message };
    }
  },
};
