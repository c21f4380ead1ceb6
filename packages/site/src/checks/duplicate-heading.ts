import { type OwnCheck, quoted } from "./check.ts";

export const duplicateHeading: OwnCheck = {
  id: "duplicate-heading",
  severity: "warning",
  *run(facts) {
    const seen = new Map<string, number>();
    for (const heading of facts.headings) {
      const first = seen.get(heading.id);
      // Repeated texts get numbered ids by themselves; only a written id can collide.
      if (first !== undefined && heading.explicit === true && heading.id !== "") {
        const message = `The id ${quoted(heading.id)} is already that of the heading on line ${first}; choose another.`;
        yield { line: heading.line, column: heading.column, message };
      } else seen.set(heading.id, heading.line);
    }
  },
};
