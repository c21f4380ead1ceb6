import { replaceTerm, type Skipped } from "@emend/site";
import { Type } from "typebox";
import { findLeft } from "./find-left.ts";
import { pagesUnder } from "./pages-under.ts";
import { copiesOutside, countOf, pathFilter } from "./paths.ts";
import { carryOut } from "./report.ts";
import { defineTool, type ToolContext } from "./tool.ts";

export const replaceTermTool = defineTool({
  name: "replace_term",
  description: "Replaces words in prose, with plurals and capitals; code, links and names stay. Lists what is left.",
  input: Type.Object(
    {
      from: Type.String({ minLength: 1 }),
      to: Type.String({ minLength: 1 }),
      under: Type.Optional(Type.String({ minLength: 1 })),
      exclude: Type.Optional(Type.String({ minLength: 1 })),
      includeCode: Type.Optional(Type.Boolean()),
      wordForms: Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
  unshown: ["includeCode", "wordForms"],
  writes: true,
  async run(context, { from, to, under, exclude, includeCode = false, wordForms = true }, signal) {
    const site = await context.site.head(signal);
    const scope = under === undefined ? null : pagesUnder(site, under);
    if (scope?.kind === "refused") return scope;
    const isExcluded = exclude === undefined ? () => false : pathFilter([exclude]);
    const folder = (under ?? "").replace(/^\.?\//, "").replace(/\/+$/, "");
    const paths = (await context.overlay.list()).map(({ path }) => path);
    const copyOf = copiesOutside(paths, folder);
    // A page that is named explicitly is included, even if it is a copy.
    const isCopy = (path: string) => scope?.paths.length !== 1 && copyOf(path) !== null;
    const excludes = (path: string) => isExcluded(path) || isCopy(path);
    const pages = scope === null ? {} : { pages: scope.paths };
    const replaced = await replaceTerm(site, { from, to, includeCode, wordForms, excludes, ...pages });
    if (replaced.kind === "refused") return replaced;
    const term = { from, to, paths: scope?.paths ?? null };
    const left = (await findLeft(context.overlay, site, term, signal)).filter(({ path }) => !excludes(path));
    const copies = paths.filter((path) => isCopy(path) && !isExcluded(path) && site.index.nodes.has(path));
    const inCopies = await leftInCopies(context, from, { copies, copyOf }, signal);
    return carryOut(context, { ...replaced, skipped: [...inCopies, ...replaced.skipped, ...left] });
  },
});

const matchesMax = 5_000;

/** One line per translation or old version that has the term: the first place, and the count. */
async function leftInCopies(
  { overlay }: ToolContext,
  from: string,
  { copies, copyOf }: { copies: readonly string[]; copyOf(path: string): string | null },
  signal: AbortSignal,
): Promise<readonly Skipped[]> {
  if (copies.length === 0) return [];
  const isCopy = new Set(copies);
  const pattern = from.trim().replaceAll(/\s+/g, " ");
  const { matches } = await overlay.search(
    { pattern, kind: "literal", ignoreCase: true, matchesMax, accepts: (path) => isCopy.has(path) },
    signal,
  );
  const byCopy = Map.groupBy(matches, ({ path }) => copyOf(path) ?? "");
  return [...byCopy].flatMap(([copy, found]) => {
    const [first] = found;
    if (!first) return [];
    const files = new Set(found.map(({ path }) => path)).size;
    const many = `${countOf(found.length, "line")} of ${countOf(files, "page")}`;
    return [{ path: first.path, line: first.line, reason: `"${pattern}" stays in ${copy}/: ${many}` }];
  });
}
