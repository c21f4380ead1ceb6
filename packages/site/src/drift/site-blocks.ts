import { findEarlierVersions } from "../references/earlier-versions.ts";
import { historyPage, historyTitle } from "../references/page-code.ts";
import type { Site } from "../site.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import { type PageBlock, pageBlocks } from "./page-blocks.ts";

/** The blocks of all pages that describe the program as it is: not those of an earlier version, nor about the past. */
export async function siteBlocks(site: Site, options: { signal?: AbortSignal } = {}): Promise<PageBlock[]> {
  const breathe = createTimeSlice(options.signal);
  const isEarlier = findEarlierVersions([...site.index.nodes.values()].map(({ path }) => path));
  const blocks: PageBlock[] = [];
  for (const { path, brief } of site.index.nodes.values()) {
    const turn = breathe();
    if (turn !== undefined) await turn;
    const bytes = brief.unread || isEarlier(path) ? null : await site.tree.read(path);
    const text = bytes === null ? "" : Buffer.from(bytes).toString();
    if (!isAboutPast(path, text)) for (const block of pageBlocks(path, text)) blocks.push(block);
  }
  return blocks;
}

/** Whether a page is about the past, by its path or its title. */
export function isAboutPast(path: string, text: string): boolean {
  return historyPage.test(path) || historyTitle.test(text.slice(0, 500));
}
