// npm run attack -- content [--only SET]: what becomes of every recorded edit that had an effect in a real builder or browser,
// and of harmless ones. Exits with 1 if a hostile one is published without a person.
import { readFileSync } from "node:fs";
import { createPageReader } from "@emend/review";
import { judgeContent } from "../../review/src/judge-content.ts";
import { refusedBy } from "../../review/src/policy.ts";
import { sites as builderSites } from "./builders/sites.ts";
import { treeOf } from "./tree-of.ts";

interface Edit {
  set: string;
  path: string;
  text: string;
  files: Readonly<Record<string, string>>;
}
type Answer = "forbidden" | "asked" | "published";

const read = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), "utf8"));

export function recordedEdits(): { hostile: readonly Edit[]; harmless: readonly Edit[] } {
  const { sites, hostile, harmless } = read("../../review/test/fixtures/edits.json") as {
    sites: Record<string, Record<string, string>>;
    hostile: (Edit & { site: string })[];
    harmless: (Edit & { site: string })[];
  };
  const { rows } = read("../test/fixtures/builder-effects.json") as {
    rows: { builder: string; path: string; text: string }[];
  };
  const filesOf = new Map(builderSites.map(({ name, files }) => [name, files]));
  const placed = (edits: (Edit & { site: string })[]) => edits.map((edit) => ({ ...edit, files: sites[edit.site] ?? {} }));
  const built = rows.map(({ builder, path, text }) => ({ set: "builders", path, text, files: filesOf.get(builder) ?? {} }));
  return { hostile: [...placed(hostile), ...built], harmless: placed(harmless) };
}

const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 1e9 };
const reader = createPageReader();

export async function judgeEdit({ path, text, files }: Edit): Promise<{ answer: Answer; said: string }> {
  const byPath = refusedBy(policy, path);
  if (byPath !== null) return { answer: "forbidden", said: byPath };
  const file = { path, content: Buffer.from(text), text };
  const judging = { base: treeOf(files), reader, policy, asked: [] };
  const { violations, constructs } = await judgeContent(judging, [file], [], AbortSignal.timeout(20_000));
  if (violations[0]) return { answer: "forbidden", said: violations[0].rule };
  const [first] = constructs;
  return first ? { answer: "asked", said: `${first.kind} ${first.text}: ${first.reason}` } : { answer: "published", said: "" };
}

/** Returns the number of hostile edits that nobody was asked about. */
export async function runContent(only = ""): Promise<number> {
  const { hostile, harmless } = recordedEdits();
  let published = 0;
  for (const [name, edits] of [["hostile", hostile], ["harmless", harmless]] as const) {
    const sets = new Map<string, Record<Answer, number>>();
    for (const edit of edits.filter(({ set }) => set.includes(only))) {
      const { answer, said } = await judgeEdit(edit);
      const counts = sets.get(edit.set) ?? { forbidden: 0, asked: 0, published: 0 };
      counts[answer] += 1;
      sets.set(edit.set, counts);
      if (name === "hostile" && answer === "published") {
        published += 1;
        console.log(`  published: ${edit.path}: ${JSON.stringify(edit.text).slice(0, 300)}`);
      }
      if (name === "harmless" && answer !== "published")
        console.log(`  ${answer}: ${edit.path}: ${JSON.stringify(edit.text).slice(0, 160)}\n    ${said.slice(0, 160)}`);
    }
    for (const [set, { forbidden, asked, published: passed }] of sets)
      console.log(`${name}, ${set}: ${forbidden} forbidden, ${asked} asked, ${passed} published`);
  }
  return published;
}
