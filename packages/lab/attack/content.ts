// npm run attack -- content [--only SET]: what becomes of every recorded edit that had an effect in a real builder or browser,
// and of harmless ones. Fails if a hostile one is published without a person.
import { readFileSync } from "node:fs";
import { judgeEdit, recordedEdits } from "../../review/test/judge-edit.ts";
import { sites } from "./builders/sites.ts";

/** Returns the number of hostile edits that nobody was asked about. */
export async function runContent(only = ""): Promise<number> {
  const { hostile, harmless } = recordedEdits();
  const { rows }: { rows: { builder: string; path: string; text: string }[] } = JSON.parse(
    readFileSync(new URL("../test/fixtures/builder-effects.json", import.meta.url), "utf8"),
  );
  const filesOf = new Map(sites.map(({ name, files }) => [name, files]));
  const built = rows.map(({ builder, path, text }) => ({
    set: "builders",
    path,
    text,
    files: filesOf.get(builder) ?? {},
  }));
  let published = 0;
  for (const [name, edits] of [
    ["hostile", [...hostile, ...built]],
    ["harmless", harmless],
  ] as const) {
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
