import { createHash } from "node:crypto";
import { join } from "node:path";
import { movePage, openSite, removePage, renameHeading } from "../src/index.ts";
import { editsOf, type MemoryTree, memoryTree } from "../test/support/memory-tree.ts";
import type { RefactoringCase } from "../test/support/refactoring-case.ts";
import { type Builder, writeFiles } from "./builders/builder.ts";
import { deadLinks } from "./read-output.ts";

/** A built site: the hash of its input files, and the dead links in its output. */
interface BuiltTree {
  tree: string;
  isBuilt: boolean;
  /** Page and target of each link that is dead in the output, or that the builder reports. */
  dead: readonly string[];
}

/** A refactoring with the builds before and after it. */
export interface BuiltRefactoring {
  case: string;
  versions: Readonly<Record<string, string>>;
  date: string;
  before: BuiltTree;
  after: BuiltTree;
}

/** The site of a case after its refactorings, as Emend performs them today. */
export async function refactored({ files, steps }: RefactoringCase): Promise<MemoryTree> {
  let tree = memoryTree(files);
  for (const step of steps) {
    const site = await openSite(tree);
    const done =
      "move" in step
        ? await movePage(site, { from: step.move, to: step.to })
        : "remove" in step
          ? await removePage(site, { page: step.remove, to: step.to })
          : await renameHeading(site, { page: step.page, from: step.heading, to: step.to });
    tree = tree.with(editsOf(done));
  }
  return tree;
}

/** The hash of all the builder's input. */
export function treeHash({ builder }: RefactoringCase, { files }: MemoryTree): string {
  const hash = createHash("sha256");
  for (const [path, bytes] of [...memoryTree(builder).files, ...files].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(`${path}\0${bytes.length}\0`).update(bytes);
  return hash.digest("hex").slice(0, 16);
}

/** Builds each case before and after its refactorings, one at a time. */
export async function buildRefactorings(
  builder: Builder,
  cases: readonly RefactoringCase[],
  home: string,
): Promise<BuiltRefactoring[]> {
  const rows: BuiltRefactoring[] = [];
  for (const one of cases) {
    const folder = join(home, "sites", "refactored");
    const build = async (tree: MemoryTree): Promise<BuiltTree> => {
      const files = Object.fromEntries([...tree.files.keys()].map((path) => [path, tree.text(path)]));
      await writeFiles(folder, { ...one.builder, ...files } as Record<string, string>);
      const { isGood, log } = await builder.make(folder, { ORACLE_STRICT: "1" });
      if (!isGood) console.error(`${one.framework}, ${one.name}: not built\n${log.slice(-3000)}`);
      const dead =
        builder.output === null
          ? log.split("\n").filter(Boolean)
          : await deadLinks(builder, folder, one.base ?? "/").catch(() => []);
      return { tree: treeHash(one, tree), isBuilt: isGood, dead };
    };
    const startedAt = performance.now();
    const before = await build(memoryTree(one.files));
    const after = await build(await refactored(one));
    rows.push({
      case: one.name,
      versions: await builder.versions(folder),
      date: new Date().toISOString().slice(0, 10),
      before,
      after,
    });
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.log(
      `${one.framework}, ${one.name}: ${after.isBuilt ? "built" : "refused"}, ${after.dead.length} dead, ${seconds} s`,
    );
  }
  return rows;
}
