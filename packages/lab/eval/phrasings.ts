// npm run eval -- phrasings: what `emend/rules` make of instructions by people who had not read how to write them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parsePrompt } from "../../agent/src/rules/parse-prompt.ts";

type Wish = { kind: string } & Record<string, unknown>;

/** A line of `phrasings.jsonl`. */
interface Phrasing {
  /** Chosen by a seed. Nobody looks into the frozen half to improve the rules. */
  half: "open" | "frozen";
  /** The site that its writer had in mind: see `phrasings-sites.json`. */
  by: string;
  prompt: string;
  /** What the writer meant. `refuse`: it takes judgement. */
  want: readonly Wish[];
}

type Verdict = "right" | "refused" | "wrong";

const sites: Readonly<Record<string, Readonly<Record<string, string>>>> = JSON.parse(
  readFileSync(join(import.meta.dirname, "phrasings-sites.json"), "utf8"),
);
const phrasings: readonly Phrasing[] = readFileSync(join(import.meta.dirname, "phrasings.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line));

function judgePhrasing({ by, prompt, want }: Phrasing): Verdict {
  const parsed = parsePrompt(prompt);
  const mayRefuse = want.some(({ kind }) => kind === "refuse");
  if (parsed.kind !== "understood") return mayRefuse ? "right" : "refused";
  const done: Wish[] = [...parsed.instructions];
  const isDone = (wish: Wish) => {
    const at = done.findIndex((instruction) => fits(by, wish, instruction));
    return at !== -1 && done.splice(at, 1).length === 1;
  };
  return !mayRefuse && want.flatMap(single).every(isDone) && done.length === 0 ? "right" : "wrong";
}

/** A wish about several pages is one for each. */
function single({ pages, ...wish }: Wish): readonly Wish[] {
  return Array.isArray(pages) && wish.kind === "move_page"
    ? pages.map((from) => ({ ...wish, from }))
    : [{ ...wish, pages }];
}

/** Words such as titles and descriptions are free. */
const checked = [
  "from",
  "to",
  "page",
  "heading",
  "group",
  "field",
  "value",
  "under",
  "into",
  "path",
  "before",
  "after",
  "includeCode",
  "only",
];

function fits(by: string, wish: Wish, instruction: Wish): boolean {
  const isRename = instruction.kind === "rename" && ["replace_term", "rename_group"].includes(wish.kind);
  if (wish.kind !== instruction.kind && !isRename) return false;
  return checked.every(
    (field) => wish[field] === undefined || plain(by, wish[field]) === plain(by, instruction[field]),
  );
}

/** A page by its path, however it was named. */
function plain(by: string, value: unknown): string {
  const text = String(value ?? "")
    .trim()
    .replace(/^\/?(?:docs\/)?|\/$|(?:\/index)?\.mdx?$/g, "")
    .replace(/\.mdx?$/, "");
  const site = Object.entries(sites[by] ?? {});
  const named = site.find(([path, title]) => [path, title].some((name) => name.toLowerCase() === text.toLowerCase()));
  return named?.[0] ?? text;
}

/** Prints the misses of the open half only. */
export function evaluatePhrasings(): void {
  for (const half of ["open", "frozen"] as const) {
    const rows = phrasings.filter((one) => one.half === half).map((one) => ({ one, verdict: judgePhrasing(one) }));
    const count = (wanted: Verdict) => rows.filter(({ verdict }) => verdict === wanted).length;
    if (half === "open") {
      for (const { one, verdict } of rows) if (verdict !== "right") console.log(`${verdict}: ${one.prompt}`);
    }
    console.log(
      `${half} half: ${count("right")} of ${rows.length} right, ${count("refused")} refused, ${count("wrong")} wrong`,
    );
  }
}
