// npm run attack -- content [--only SET]: what becomes of every recorded edit that had an effect in a real builder or browser,
// and of harmless ones. Fails if a hostile one is published without a person.
import { judgeEdit, recordedEdits } from "../../review/test/judge-edit.ts";

/** Returns the number of hostile edits that nobody was asked about. */
export async function runContent(only = ""): Promise<number> {
  const { hostile, harmless } = recordedEdits();
  let published = 0;
  for (const [name, edits] of Object.entries({ hostile, harmless })) {
    const sets = new Map<string, Record<"forbidden" | "asked" | "published", number>>();
    for (const edit of edits.filter(({ set }) => set.includes(only))) {
      const { answer, violations, constructs } = await judgeEdit(edit);
      const counts = sets.get(edit.set) ?? { forbidden: 0, asked: 0, published: 0 };
      counts[answer] += 1;
      sets.set(edit.set, counts);
      if ((answer === "published") !== (name === "hostile")) continue;
      if (answer === "published") published += 1;
      const why = violations[0]?.rule ?? constructs[0]?.reason ?? "";
      console.log(`  ${answer}: ${edit.path}: ${JSON.stringify(edit.text).slice(0, 200)} ${why.slice(0, 160)}`);
    }
    for (const [set, { forbidden, asked, published: passed }] of sets)
      console.log(`${name}, ${set}: ${forbidden} forbidden, ${asked} asked, ${passed} published`);
  }
  return published;
}
