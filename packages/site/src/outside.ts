import { isDocument } from "./frameworks/pages.ts";
import type { Site } from "./site.ts";

/** The documentation of a repository that the site does not contain. */
export interface Outside {
  /** Markdown files that are not part of the site. */
  documents: number;
  /** Other sites, the largest first. */
  sites: readonly { framework: string; root: string; pages: number }[];
}

export function outsideOf({ index, model }: Site): Outside {
  let documents = 0;
  for (const path of index.files.keys()) if (!index.nodes.has(path) && isDocument(path, "")) documents++;
  return { documents, sites: model.otherSites ?? [] };
}
