import { movePage, openSite, type Refactoring, removePage, renameHeading } from "../../src/index.ts";
import { type MemoryTree, memoryTree } from "./memory-tree.ts";
import { deadEntries, type ReadPage, readPlainly } from "./plain-reader.ts";
import { createRandom, type Layout, pick, randomPlace, randomSite } from "./random-site.ts";

const stepsMax = 4;

/**
 * Makes a site, refactors it a few times and has a second reader look after each step. Answers what it holds against the
 * refactoring, in words; nothing where all is well.
 */
export async function refactorRandomly(layout: Layout, seed: number): Promise<string[]> {
  const random = createRandom(seed);
  let tree = memoryTree(randomSite(layout, random));
  let texts = textsOf(tree);
  if (deadEntries(layout, texts).length > 0) return ["the random site itself is broken"];
  for (let step = 0; step < 1 + random(stepsMax); step++) {
    const site = await openSite(tree);
    if (site.framework !== layout.framework) return [`read as ${site.framework}`];
    const before = readPlainly(layout, texts);
    const [title, page] = pick(random, [...before]);
    const number = random(4);
    const other = pick(random, [...before]);
    const name = `Part ${random(1000)}`;
    const place = `${layout.root}${randomPlace(random)}`;
    const folder = page.path.slice(layout.root.length).split("/").slice(0, -1)[0];
    const [what, done]: [string, Refactoring] =
      number === 0 && folder !== undefined
        ? [
            `move folder ${folder} to shelf/inner`,
            await movePage(site, { from: `${layout.root}${folder}/`, to: `${layout.root}shelf/inner` }),
          ]
        : number === 1 && other[0] !== title
          ? [`delete ${page.path} for ${other[1].path}`, await removePage(site, { page: page.path, to: other[1].path })]
          : number === 2
            ? [
                `rename a heading of ${page.path} to ${name}`,
                await renameHeading(site, { page: page.path, from: `Part of ${title.slice(5)}`, to: name }),
              ]
            : [
                `move ${page.path} to ${place}`,
                await movePage(site, { from: page.path, to: `${place}${layout.extension}` }),
              ];
    if (done.kind === "refused") continue;
    tree = tree.with(done.edits);
    texts = textsOf(tree);
    const deleted = what.startsWith("delete") ? { title, by: other[0] } : null;
    const wrong = compare(before, readPlainly(layout, texts), deleted);
    const dead = deadEntries(layout, texts).map((route) => `navigation or redirect names ${route}`);
    if (wrong.length + dead.length > 0) return [`${layout.framework} seed ${seed}, ${what}:`, ...wrong, ...dead];
  }
  return [];
}

function textsOf(tree: MemoryTree): Map<string, string> {
  return new Map([...tree.files.keys()].map((path) => [path, tree.text(path)]));
}

function compare(
  before: ReadonlyMap<string, ReadPage>,
  after: ReadonlyMap<string, ReadPage>,
  deleted: { title: string; by: string } | null,
): string[] {
  const wrong: string[] = [];
  for (const [title, page] of before) {
    const now = after.get(title);
    if (title === deleted?.title) {
      if (now !== undefined) wrong.push(`${title} is still there`);
      continue;
    }
    if (now === undefined) {
      wrong.push(`${title} is gone`);
      continue;
    }
    const isSameText = now.rest === page.rest || /^## Part \d+$/m.test(now.rest);
    if (!isSameText) wrong.push(`${now.path}: more than links changed`);
    for (const [i, link] of page.links.entries()) {
      const found = now.links[i];
      const goal = link.goal === deleted?.title ? deleted?.by : link.goal;
      const where = `${now.path}: ${link.target} is now ${found?.target}`;
      if (link.goal === null) {
        if (found?.target !== link.target && now.path === page.path) wrong.push(`${where}, though it was dead`);
        continue;
      }
      if (found?.goal !== goal) wrong.push(`${where} and leads to ${found?.goal} instead of ${goal}`);
      if (link.heading !== null && found?.heading === null) wrong.push(`${where} and its heading is gone`);
      const isStill = now.path === page.path && after.get(goal ?? "")?.path === before.get(link.goal)?.path;
      const isRenamed = link.heading !== found?.heading;
      if (isStill && !isRenamed && found?.target !== link.target) wrong.push(`${where}, for no reason`);
    }
  }
  return wrong;
}
