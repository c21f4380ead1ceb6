import { access } from "node:fs/promises";
import { join } from "node:path";
import { checkSite, folderTree, openSite } from "@emend/site";
import { CliError } from "../cli.ts";
import { counted } from "../terminal/counted.ts";

export interface Look {
  /** Inside the folder; empty: all of it. */
  docsDir: string;
  pages: string;
  findings: string;
}

/** What a folder of docs holds and what is wrong with it, in words. The folder is only read. */
export async function lookAtDocs(folder: string, docsDir: string | undefined, signal: AbortSignal): Promise<Look> {
  if (await isBareRepository(folder)) {
    return { docsDir: docsDir ?? "", pages: "a bare repository", findings: "when the job runs" };
  }
  const site = await openSite(folderTree(folder), { signal, ...(docsDir === undefined ? {} : { docsDir }) });
  if (site.pages.length === 0) {
    throw new CliError(
      "usage",
      `no page of documentation was found in ${join(folder, docsDir ?? "")}; name another folder with --repo or --docs`,
    );
  }
  const counts = new Map<string, number>();
  for (const { check } of await checkSite(site)) counts.set(check, (counts.get(check) ?? 0) + 1);
  const found = [...counts].sort(([, a], [, b]) => b - a);
  return {
    docsDir: docsDir ?? site.root,
    pages: `${counted(site.pages.length, "page")}, ${site.framework}`,
    findings:
      found.map(([check, count]) => counted(count, check.replaceAll("-", " "))).join(", ") || "nothing is wrong",
  };
}

/** It has no files to look at, only objects; the server reads those. */
async function isBareRepository(folder: string): Promise<boolean> {
  const parts = await Promise.allSettled([access(join(folder, "HEAD")), access(join(folder, "objects"))]);
  return parts.every(({ status }) => status === "fulfilled");
}
