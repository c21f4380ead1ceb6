import { describe, expect, it } from "vitest";
import { checkSite, movePage, openSite, removePage } from "../src/index.ts";
import { editsOf, type MemoryTree, memoryTree } from "./support/memory-tree.ts";
import { refactoringCases, type Step } from "./support/refactoring-cases.ts";

async function take(tree: MemoryTree, step: Step): Promise<MemoryTree> {
  const site = await openSite(tree);
  const done =
    "move" in step
      ? await movePage(site, { from: step.move, to: step.to })
      : await removePage(site, { page: step.remove, to: step.to });
  return tree.with(editsOf(done));
}

describe.each(refactoringCases)("$framework: $name", ({ files, steps, after }) => {
  it("follows the page in every place that names it", async () => {
    const before = memoryTree(files);
    let tree = before;
    for (const step of steps) tree = await take(tree, step);
    for (const [path, texts] of Object.entries(after)) {
      for (const text of texts) expect(tree.text(path), path).toContain(text);
    }
    const messages = async (one: MemoryTree) => (await checkSite(await openSite(one))).map(({ message }) => message);
    expect(await messages(tree)).toEqual(await messages(before));
  });
});
