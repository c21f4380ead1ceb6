import { replaceTerm, type Site, type Skipped } from "@emend/site";
import type { Overlay } from "@emend/tree";
import { Type } from "typebox";
import { pagesUnder } from "./page-tools.ts";
import { copiesOutside, countOf, pathFilter } from "./paths.ts";
import { applyRefactoring } from "./report.ts";
import { defineTool, type ToolContext } from "./tool.ts";

export const replaceTermTool = defineTool({
  name: "replace_term",
  description: "Replaces words in prose with their forms; code, links and names stay.",
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
    // One page that may not be changed must not keep the others from it.
    const refusalOf = (path: string) => (scope?.paths.length === 1 ? null : context.refusePath(path));
    const excludes = (path: string) => isExcluded(path) || isCopy(path) || refusalOf(path) !== null;
    const pages = scope === null ? {} : { pages: scope.paths };
    const replaced = await replaceTerm(site, { from, to, includeCode, wordForms, excludes, ...pages });
    if (replaced.kind === "refused") return replaced;
    const term = { from, to, paths: scope?.paths ?? null };
    const left = (await findLeft(context.overlay, site, term, signal)).filter(({ path }) => !excludes(path));
    const apart = new Map<string, string>();
    for (const path of scope?.paths ?? site.index.nodes.keys()) {
      const refusal = refusalOf(path);
      if (isExcluded(path)) continue;
      if (isCopy(path)) apart.set(path, `in ${copyOf(path)}/`);
      else if (refusal !== null) apart.set(path, `where jobs write nothing (${refusal})`);
    }
    const inOthers = await leftApart(context, from, apart, signal);
    return applyRefactoring(context, { ...replaced, skipped: [...inOthers, ...replaced.skipped, ...left] });
  },
});

const matchesMax = 5_000;

/** One line per translation, old version and policy's reason where the term stays: the first place, and the count. */
async function leftApart(
  { overlay }: ToolContext,
  from: string,
  /** Where a page is, in words. */
  apart: ReadonlyMap<string, string>,
  signal: AbortSignal,
): Promise<readonly Skipped[]> {
  if (apart.size === 0) return [];
  const pattern = from.trim().replaceAll(/\s+/g, " ");
  const { matches } = await overlay.search(
    { pattern, kind: "literal", ignoreCase: true, matchesMax, accepts: (path) => apart.has(path) },
    signal,
  );
  const byPlace = Map.groupBy(matches, ({ path }) => apart.get(path) ?? "");
  return [...byPlace].flatMap(([place, found]) => {
    const [first] = found;
    if (!first) return [];
    const files = new Set(found.map(({ path }) => path)).size;
    const many = `${countOf(found.length, "line")} of ${countOf(files, "page")}`;
    return [{ path: first.path, line: first.line, reason: `"${pattern}" stays ${place}: ${many}` }];
  });
}

const leftMax = 200;

/** Where a term remains in docs files that are not pages. For pages, the replacement reports this itself. */
async function findLeft(
  overlay: Overlay,
  site: Pick<Site, "root" | "index">,
  term: { from: string; to: string; paths: readonly string[] | null },
  signal: AbortSignal,
): Promise<readonly Skipped[]> {
  // With a page or folder given, only pages are meant. And "key" is part of every "access key" that replaced it.
  if (term.paths !== null || term.to.toLowerCase().includes(term.from.toLowerCase())) return [];
  const pattern = term.from.trim().replaceAll(/\s+/g, " ");
  const under = site.root === "" ? {} : { under: site.root };
  const { matches } = await overlay.search(
    { pattern, kind: "literal", ignoreCase: true, matchesMax: leftMax, ...under },
    signal,
  );
  const isWord = wholeWord(pattern);
  return matches
    .filter(({ path, text }) => !site.index.nodes.has(path) && isWord.test(text))
    .map(({ path, line }) => ({ path, line, reason: `"${pattern}" stays outside of pages` }));
}

function wholeWord(term: string): RegExp {
  const escaped = term.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, "iu");
}
