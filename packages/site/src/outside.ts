import { isDocument } from "./frameworks/pages.ts";
import type { Site } from "./site.ts";

/** What of a repository's documentation a site leaves out. */
export interface Outside {
  /** Markdown files that are no part of the site. */
  documents: number;
  /** Further sites, the largest first. */
  sites: readonly { framework: string; root: string; pages: number }[];
}

export function outsideOf({ index, model }: Site): Outside {
  let documents = 0;
  for (const path of index.files.keys()) if (!index.nodes.has(path) && isDocument(path, "")) documents++;
  return { documents, sites: model.otherSites ?? [] };
}
