import { posix } from "node:path";
import type { Edits, Finding, SiteTree, Skipped } from "../types.ts";
import { isDocument } from "./addresses.ts";
import { doubtedFixes, judgeChange, type LinkResolver, mattersToLinks, type State } from "./judge-change.ts";
import { pathPart, writtenLinks } from "./written-links.ts";

const readsAtOnce = 64;
const namedMax = 3;

export async function readTexts(tree: SiteTree, paths: readonly string[]): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (let at = 0; at < paths.length; at += readsAtOnce) {
    const some = paths.slice(at, at + readsAtOnce);
    const contents = await Promise.all(some.map((path) => tree.read(path)));
    for (const [n, bytes] of contents.entries()) {
      if (bytes !== null) texts.set(some[n] as string, Buffer.from(bytes).toString("utf8"));
    }
  }
  return texts;
}

interface Look {
  tree: SiteTree;
  /** Paths of the pages, and of texts that pages include. */
  pages: Iterable<string>;
  /** The file that the index takes a link for. */
  believed(path: string, target: string): string | null;
}

/** Why a refactoring must not be done, or the links that a person has to look at. */
export async function lookAgain(
  { tree, pages, believed }: Look,
  edits: Edits,
  moves: ReadonlyMap<string, string>,
): Promise<{ reason: string } | { skipped: readonly Skipped[] }> {
  const changed = await readTexts(tree, [...edits.keys()]);
  const text = (bytes: Uint8Array | null): string | null =>
    bytes === null ? null : Buffer.from(bytes).toString("utf8");
  const documents = [...edits].filter(([path]) => isDocument(path));
  if (!documents.some(([path, bytes]) => mattersToLinks(path, changed.get(path) ?? null, text(bytes))))
    return { skipped: [] };
  const files = new Set((await tree.list()).map(({ path }) => path));
  const before: State = { files, texts: await readTexts(tree, [...pages]) };
  const after = { files: new Set(files), texts: new Map(before.texts) };
  const origins = new Map([...moves].map(([from, to]) => [to, from]));
  let added = "";
  for (const [path, bytes] of edits) {
    const now = text(bytes);
    if (now === null) {
      after.files.delete(path);
      after.texts.delete(path);
      continue;
    }
    after.files.add(path);
    if (isDocument(path)) after.texts.set(path, now);
    const known = new Set((changed.get(origins.get(path) ?? path) ?? "").split("\n"));
    const own = isDocument(path) ? (/^---\n[\s\S]*?\n---/.exec(now)?.[0] ?? "") : now;
    for (const line of own.split("\n")) if (!known.has(line)) added += `${line}\n`;
  }
  const { dead, mayMean, follow } = judgeChange(before, after, moves, added, believed);
  if (dead.length > 0) {
    const named = dead.slice(0, namedMax).map(({ path, line, target }) => `${path}:${line} (${target})`);
    const more = dead.length > namedMax ? ` and ${dead.length - namedMax} more` : "";
    const what =
      dead.length === 1
        ? "a link that works now would lead nowhere"
        : `${dead.length} links that work now would lead nowhere`;
    return {
      reason: `${what}: ${named.join(", ")}${more}; nothing was changed. Correct these links by hand first, then ask again`,
    };
  }
  const unsure = mayMean.map(({ path, line, target }) => ({
    path,
    line,
    reason: `${target} may mean what moved, and only the build can tell; check it by hand`,
  }));
  const gone = new Set([...edits].flatMap(([path, bytes]) => (bytes === null ? [path] : [])));
  const others = [...files].filter(
    (path) => mayLink.test(path) && !before.texts.has(path) && !edits.has(path) && !vendored.test(path),
  );
  return { skipped: [...unsure, ...(await linksFromOutside(tree, others, gone, follow))] };
}

const mayLink = /\.(?:mdx?|markdown|mdoc|rst|ipynb|html?|[jt]sx|vue|astro|svelte)$/i;
const vendored = /(?:^|\/)(?:node_modules|vendor)\//;
const othersMax = 20_000;

/** Links of files that are no pages of the site, such as its README or a component, to files that moved. */
async function linksFromOutside(
  tree: SiteTree,
  others: readonly string[],
  gone: ReadonlySet<string>,
  follow: LinkResolver,
): Promise<Skipped[]> {
  const skipped: Skipped[] = [];
  for (let at = 0; gone.size > 0 && at < Math.min(others.length, othersMax); at += readsAtOnce) {
    for (const [path, text] of await readTexts(tree, others.slice(at, at + readsAtOnce))) {
      for (const link of writtenLinks(text)) {
        const part = pathPart(link.target);
        // Hosts of repositories start absolute links at the top.
        const file = posix.join(part.startsWith("/") ? "" : posix.dirname(path), part).replace(/^\//, "");
        const how = gone.has(file) ? "leads" : gone.has(follow(path, link) ?? "") ? "may lead" : null;
        if (how === null) continue;
        const reason = `${link.target} ${how} to what moved, and this file is no page of the site; check it by hand`;
        skipped.push({ path, line: link.line, reason });
      }
    }
  }
  return skipped;
}

const judged = new Set(["broken-link", "broken-anchor"]);

/** The findings, without the fixes of links that the second resolver does not confirm. */
export async function confirmFixes(
  { tree, pages }: Omit<Look, "believed">,
  findings: readonly Finding[],
): Promise<readonly Finding[]> {
  const fixes = findings.filter(({ fix, check }) => fix !== undefined && judged.has(check));
  if (fixes.length === 0) return findings;
  const files = new Set((await tree.list()).map(({ path }) => path));
  const state: State = { files, texts: await readTexts(tree, [...pages]) };
  const proposed = await Promise.all(
    fixes.map(async ({ path, fix }) => {
      let bytes = Buffer.from((await tree.read(path)) ?? new Uint8Array());
      for (const { start, end, text } of (fix?.edits ?? []).toSorted((a, b) => b.start - a.start)) {
        bytes = Buffer.concat([bytes.subarray(0, start), Buffer.from(text), bytes.subarray(end)]);
      }
      return { path, text: bytes.toString("utf8") };
    }),
  );
  const doubted = doubtedFixes(state, proposed);
  const without = new Set(fixes.filter((_, n) => doubted.has(n)));
  return findings.map((finding) => {
    if (!without.has(finding)) return finding;
    const { fix: _, ...rest } = finding;
    return { ...rest, certainty: "likely", why: "a second reading of the site does not confirm it" };
  });
}
