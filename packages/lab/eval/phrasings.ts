// npm run eval -- phrasings: what `emend/rules` make of instructions by people who had not read how to write them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createNames } from "../../agent/src/rules/names.ts";
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
  const parsed = parsePrompt(prompt, { names: namesOf(by) });
  const mayRefuse = want.some(({ kind }) => kind === "refuse");
  if (parsed.kind !== "understood") return mayRefuse ? "right" : "refused";
  const done: Wish[] = parsed.instructions.map(withFolder);
  const isDone = (wish: Wish) => {
    const at = done.findIndex((instruction) => fits(by, wish, instruction));
    return at !== -1 && done.splice(at, 1).length === 1;
  };
  return !mayRefuse && want.flatMap(single).every(isDone) && done.length === 0 ? "right" : "wrong";
}

/** The site as its writer knew it: pages with their titles, and folders. */
function namesOf(by: string) {
  const pages = Object.entries(sites[by] ?? {}).map(([path, title]) => ({ path, route: `/${path}`, title }));
  const folders = pages.flatMap(({ path }) => (path.includes("/") ? [path.slice(0, path.lastIndexOf("/"))] : []));
  return createNames({ pages, folders: [...new Set(folders)], groups: [], headings: [] });
}

/** A page moved into a folder keeps its name; a new page is in the folder of its path. */
function withFolder(instruction: Wish): Wish {
  const { kind, from, to, path } = instruction;
  const place = String((kind === "add_page" ? path : kind === "move_page" ? to : "") ?? "");
  const folder = place.slice(0, Math.max(0, place.lastIndexOf("/")));
  if (kind === "add_page") return { ...instruction, under: folder };
  const isSameName = kind === "move_page" && place.split("/").at(-1) === String(from).split("/").at(-1);
  return isSameName ? { into: folder, ...instruction } : instruction;
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
  return [...checked, "pages"].every((field) => {
    const [wanted, done] = [wish[field], instruction[field]];
    if (!Array.isArray(wanted)) return wanted === undefined || plain(by, wanted) === plain(by, done);
    const names = Array.isArray(done) ? done : [];
    return wanted.map((one) => plain(by, one)).join() === names.map((one) => plain(by, one)).join();
  });
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
