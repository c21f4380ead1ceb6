import { checkSite, folderTree, openSite } from "@emend/site";

interface Look {
  /** Inside the folder; empty: all of it. */
  docsDir: string;
  pages: string;
  findings: string;
}

/** What a folder of docs holds and what is wrong with it, in words. The folder is only read. */
export async function lookAtDocs(task: { folder: string; docsDir?: string }, signal: AbortSignal): Promise<Look> {
  const named = task.docsDir === undefined ? {} : { docsDir: task.docsDir };
  const site = await openSite(folderTree(task.folder), { signal, ...named });
  const counts = new Map<string, number>();
  for (const { check } of await checkSite(site)) counts.set(check, (counts.get(check) ?? 0) + 1);
  const found = [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([check, count]) => counted(count, check.replaceAll("-", " ")));
  return {
    docsDir: task.docsDir ?? site.root,
    pages: `${counted(site.pages.length, "page")}, ${site.framework}`,
    findings: found.length === 0 ? "nothing wrong was found" : found.join(", "),
  };
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
