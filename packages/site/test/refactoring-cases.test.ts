import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { type BuiltRefactoring, refactored, treeHash } from "../oracles/refactorings.ts";
import { checkSite, openSite } from "../src/index.ts";
import { type MemoryTree, memoryTree } from "./support/memory-tree.ts";
import { refactoringCases } from "./support/refactoring-cases.ts";

async function builtOf(framework: string, name: string): Promise<BuiltRefactoring | undefined> {
  const file = new URL(`../oracles/truth/refactorings/${framework}.json`, import.meta.url);
  const rows: BuiltRefactoring[] = JSON.parse(await readFile(file, "utf8"));
  return rows.find((row) => row.case === name);
}

describe.each(refactoringCases)("$framework: $name", (one) => {
  it("follows the page in every place that names it", async () => {
    const before = memoryTree(one.files);
    const tree = await refactored(one);
    for (const [path, texts] of Object.entries(one.after)) {
      for (const text of texts) expect(tree.text(path), path).toContain(text);
    }
    const messages = async (site: MemoryTree) => (await checkSite(await openSite(site))).map(({ message }) => message);
    expect(await messages(tree)).toEqual(await messages(before));
  });

  it("is accepted by the real builder, before and after", async () => {
    const built = await builtOf(one.framework, one.name);
    // The files differ from those that were built: `npm run oracles -- --refactorings` builds them again.
    expect(built?.before.tree).toBe(treeHash(one, memoryTree(one.files)));
    expect(built?.after.tree).toBe(treeHash(one, await refactored(one)));
    expect(built?.before.isBuilt).toBe(true);
    expect(built?.after.isBuilt).toBe(true);
    // A theme may have its own dead links.
    const targets = (dead: readonly string[] = []): string[] => dead.map((link) => link.slice(link.indexOf(" ") + 1));
    const known = targets(built?.before.dead);
    expect(targets(built?.after.dead).filter((target) => !known.includes(target))).toEqual([]);
  });
});
