import type { SiteTree } from "../types.ts";
import { addressFields } from "./addresses.ts";
import { mayHave } from "./ids.ts";
import { followUsual } from "./judge-change.ts";
import { readTexts } from "./read-states.ts";
import { makeWorld } from "./world.ts";
import { fragmentPart, isOwn, pathPart } from "./written-links.ts";

/** What the index says to be missing. */
export interface Missing {
  path: string;
  /** As it is written. */
  target: string;
}

interface Seen {
  tree: SiteTree;
  files: Iterable<string>;
  /** Page → its front matter and the targets of its links. */
  pages: ReadonlyMap<string, { fields: Readonly<Record<string, unknown>>; links: readonly string[] }>;
}

/**
 * Which of the missing targets the second resolver finds, if it reads them as other links of the site are meant. It reads
 * only the pages whose ids are in question: which links there are, the index tells.
 */
export async function findsMissing({ tree, files, pages }: Seen, missing: readonly Missing[]): Promise<boolean[]> {
  const heads = new Map<string, string>();
  const links: { from: string; target: string }[] = [];
  for (const [from, page] of pages) {
    heads.set(from, headOf(page.fields));
    for (const target of page.links) if (isOwn(target) && pathPart(target) !== "") links.push({ from, target });
  }
  const follow = followUsual(makeWorld(new Set(files), heads), links);
  const found = missing.map(({ path, target }) => follow(path, { target, isReference: false }));
  const needed = missing.flatMap(({ target }, n) => (fragmentPart(target) === null ? [] : (found[n] ?? [])));
  const goals = await readTexts(tree, [...new Set(needed)]);
  return missing.map(({ target }, n) => {
    const file = found[n] ?? null;
    const id = fragmentPart(target);
    return file !== null && (id === null ? pathPart(target) !== "" : mayHave(goals.get(file) ?? "", id));
  });
}

function headOf(fields: Readonly<Record<string, unknown>>): string {
  const lines = addressFields.flatMap((name) => (typeof fields[name] === "string" ? [`${name}: ${fields[name]}`] : []));
  return lines.length === 0 ? "" : `---\n${lines.join("\n")}\n---\n`;
}
