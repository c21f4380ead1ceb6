import { movePage, moveSection, openSite, type Refactoring, removePage, renameHeading } from "../../src/index.ts";
import { type MemoryTree, memoryTree } from "./memory-tree.ts";
import { deadEntries, type ReadPage, readPlainly } from "./plain-reader.ts";
import type { Layout } from "./random-layouts.ts";
import { createRandom, pick, type Random, randomPlace, randomSite } from "./random-site.ts";

const stepsMax = 4;

type Pages = ReadonlyMap<string, ReadPage>;
type Found = [title: string, page: ReadPage];

/** A description of one refactoring, its result, and what may differ afterwards. */
interface Taken {
  what: string;
  done: Refactoring;
  /** The titles of a removed page and of its replacement, and those of their copies. */
  deleted?: ReadonlyMap<string, string>;
  /** The heading that moves, and the title of the page that it becomes. */
  split?: { from: string; heading: string; to: string };
}

/**
 * Generates a site and refactors it a few times. A second resolver checks it after each step. Returns the errors that it
 * finds; empty if there are none.
 */
export async function refactorRandomly(layout: Layout, seed: number): Promise<string[]> {
  const random = createRandom(seed);
  let tree = memoryTree(randomSite(layout, random));
  let texts = textsOf(tree);
  const broken = deadEntries(layout, texts);
  if (broken.length > 0) return [`${layout.name} seed ${seed}: the random site itself is broken`, ...broken];
  for (let step = 0; step < 1 + random(stepsMax); step++) {
    const site = await openSite(tree);
    if (site.framework !== layout.framework) return [`${layout.name} seed ${seed}: read as ${site.framework}`];
    const before = readPlainly(layout, texts);
    const { what, done, deleted = new Map(), split } = await takeStep(layout, random, site, before);
    if (done.kind === "refused") continue;
    tree = tree.with(done.edits);
    const texted = textsOf(tree);
    const after = readPlainly(layout, texted);
    const wrong = [
      ...compare(layout, before, after, deleted, split),
      ...deadEntries(layout, texted).map((route) => `navigation or redirect names ${route}`),
      ...otherChanges(before, after, texts, texted),
      ...done.skipped
        .filter(({ reason }) => reason.startsWith("no way"))
        .map(({ path, reason }) => `${path}: ${reason}`),
    ];
    if (wrong.length > 0) return [`${layout.name} seed ${seed}, ${what}:`, ...wrong];
    texts = texted;
  }
  return [];
}

async function takeStep(
  layout: Layout,
  random: Random,
  site: Awaited<ReturnType<typeof openSite>>,
  pages: Pages,
): Promise<Taken> {
  const isMain = ([title, { path }]: Found): boolean =>
    !title.startsWith("Partial") && path.startsWith(layout.root) && copyOf(layout, path) === null;
  const main = [...pages].filter(isMain);
  const [title, page] = pick(random, main);
  const other = pick(random, main);
  const number = random(5);
  const name = `Part ${random(1000)}`;
  const place = `${layout.root}${randomPlace(random)}`;
  const folder = page.path.slice(layout.root.length).split("/").slice(0, -1)[0];
  if (number === 0 && folder !== undefined) {
    const done = await movePage(site, { from: `${layout.root}${folder}/`, to: `${layout.root}shelf/inner` });
    return { what: `move folder ${folder} to shelf/inner`, done };
  }
  if (number === 1 && other[0] !== title) {
    const done = await removePage(site, { page: page.path, to: other[1].path });
    return {
      what: `delete ${page.path} for ${other[1].path}`,
      done,
      deleted: deletions(layout, pages, [title, page], other),
    };
  }
  const [heading] = page.headings;
  if (number === 2 && heading !== undefined) {
    const done = await renameHeading(site, { page: page.path, from: heading, to: name });
    return { what: `rename a heading of ${page.path} to ${name}`, done };
  }
  if (number === 3 && heading !== undefined) {
    const isNew = random(2) === 0;
    const to = isNew ? `${place}${layout.extension}` : other[1].path;
    const done = await moveSection(site, { page: page.path, heading, to });
    return { what: `split "${heading}" of ${page.path} to ${to}`, done, split: { from: title, heading, to } };
  }
  const done = await movePage(site, { from: page.path, to: `${place}${layout.extension}` });
  return { what: `move ${page.path} to ${place}`, done };
}

function copyOf(layout: Layout, path: string): string | null {
  const own = layout.copies?.find(({ dir }) => path.startsWith(dir));
  return own === undefined ? null : own.dir;
}

/** A page's translations move with it. They link to the other page's translations, or to the page itself if it has none. */
function deletions(layout: Layout, pages: Pages, page: Found, other: Found): Map<string, string> {
  const byPath = new Map([...pages].map(([title, { path }]) => [path, title]));
  const gone = new Map([[page[0], other[0]]]);
  for (const { dir, kind } of layout.copies ?? []) {
    const at = ([, { path }]: Found): string => dir + path.slice(layout.root.length);
    const title = kind === "language" ? byPath.get(at(page)) : undefined;
    if (title !== undefined) gone.set(title, byPath.get(at(other)) ?? other[0]);
  }
  return gone;
}

function textsOf(tree: MemoryTree): Map<string, string> {
  return new Map([...tree.files.keys()].map((path) => [path, tree.text(path)]));
}

function compare(
  layout: Layout,
  before: Pages,
  after: Pages,
  deleted: ReadonlyMap<string, string>,
  split: Taken["split"],
): string[] {
  const wrong: string[] = [];
  // The place of a heading after it moved: on the new page, or as that page itself.
  const holder = split === undefined ? undefined : [...after].find(([, { path }]) => path === split.to);
  for (const [title, page] of before) {
    const now = after.get(title);
    if (deleted.has(title)) {
      if (now !== undefined) wrong.push(`${title} is still there`);
      continue;
    }
    if (now === undefined) {
      wrong.push(`${title} is gone`);
      continue;
    }
    const isTouched = split !== undefined && (title === split.from || title === holder?.[0]);
    const isSameText = now.rest === page.rest || /^## Part \d+$/m.test(now.rest) || isTouched;
    if (!isSameText) wrong.push(`${now.path}: more than links changed`);
    const links = isTouched ? movedLinks(page, after, split) : now.links;
    for (const [i, link] of page.links.entries()) {
      const found = links[i];
      const isMoved = split !== undefined && link.goal === split.from && link.heading === split.heading;
      const goal = isMoved ? holder?.[0] : (deleted.get(link.goal ?? "") ?? link.goal);
      const where = `${now.path}: ${link.target} is now ${found?.target}`;
      if (link.goal === null) {
        if (found?.target !== link.target && now.path === page.path && !isTouched)
          wrong.push(`${where}, though it was dead`);
        continue;
      }
      // On a translated page, the same address links to a translation.
      const translated = copyOf(layout, now.path) + (after.get(goal ?? "")?.path ?? "").slice(layout.root.length);
      const isThere = found?.goal === goal || after.get(found?.goal ?? "")?.path === translated;
      if (!isThere) wrong.push(`${where} and leads to ${found?.goal} instead of ${goal}`);
      const hadHeading = link.heading !== null && link.heading !== "";
      if (hadHeading && found?.heading === null) wrong.push(`${where} and its heading is gone`);
      const isStill = now.path === page.path && after.get(goal ?? "")?.path === before.get(link.goal)?.path;
      const isRenamed = link.heading !== found?.heading;
      if (isStill && !isRenamed && !isMoved && !isTouched && found?.target !== link.target)
        wrong.push(`${where}, for no reason`);
    }
  }
  return wrong;
}

/** The links of a page, now in two places: those in the moved section are found by target and text. */
function movedLinks(page: ReadPage, after: Pages, split: NonNullable<Taken["split"]>): ReadPage["links"] {
  const there = [...after].filter(([title, { path }]) => title === split.from || path === split.to);
  const all = there.flatMap(([, { links }]) => links);
  const used = new Set<(typeof all)[number]>();
  return page.links.map((link) => {
    const isMoved = link.goal === split.from && link.heading === split.heading;
    const goal = isMoved ? [...after].find(([, { path }]) => path === split.to)?.[0] : link.goal;
    const found = all.find((one) => !used.has(one) && one.goal === goal && (isMoved || one.heading === link.heading));
    if (found !== undefined) used.add(found);
    return found ?? link;
  });
}

/** Removed lines of other files that do not mention anything that moved. */
function otherChanges(
  before: Pages,
  after: Pages,
  texts: ReadonlyMap<string, string>,
  texted: ReadonlyMap<string, string>,
): string[] {
  const isPage = (pages: Pages, path: string): boolean => [...pages.values()].some((page) => page.path === path);
  const moved = [...before].filter(([title, { path }]) => after.get(title)?.path !== path).map(([, { path }]) => path);
  const places = [
    ...moved,
    ...moved.map((path) => after.get([...before].find(([, page]) => page.path === path)?.[0] ?? "")?.path ?? ""),
  ];
  const stems = places.flatMap((path) => {
    const parts = path
      .toLowerCase()
      .replace(/\.\w+$/, "")
      .split("/");
    const name = parts.at(-1) ?? "";
    return /index$/.test(name) ? [name, parts.at(-2) ?? "'/'", "'/'", "/en/"] : [name];
  });
  const wrong: string[] = [];
  for (const [path, text] of texts) {
    if (isPage(before, path)) continue;
    const now = texted.get(path) ?? [...texted].find(([other, same]) => same === text && !texts.has(other))?.[1];
    if (now === undefined) {
      // A file that has only redirects is deleted with the last one.
      if (!/^redirects:\n(?: .*\n?)*$/.test(text)) wrong.push(`${path} is gone`);
      continue;
    }
    const kept = new Set(now.split("\n").map((line) => line.replace(/,$/, "")));
    for (const line of text.split("\n"))
      if (
        !kept.has(line.replace(/,$/, "")) &&
        !stems.some((stem) => line.toLowerCase().includes(stem)) &&
        !/redirects"?: [[{]|^\s*[\]}],?$/.test(line)
      )
        wrong.push(`${path}: lost the line ${line}`);
  }
  return wrong;
}
