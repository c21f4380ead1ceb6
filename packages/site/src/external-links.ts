import { isTemplate } from "./links/target.ts";
import { readFactsOf } from "./parse/read-facts.ts";
import type { Site } from "./site.ts";

export interface ExternalLink {
  /** The URL without its fragment. */
  url: string;
  /** The first page that contains it. */
  path: string;
  line: number;
  column: number;
}

// Placeholder names, and hosts that only their own network can resolve.
const noPlace =
  /^(?:localhost|.*\.(?:localhost|test|example|invalid|local|internal)|(?:.*\.)?example\.(?:com|org|net))$/i;
const address = /^(?:[\d.]+|\[.*\])$/;

/** The external URLs in a site's pages, without duplicates. */
export async function externalLinks(site: Site, signal?: AbortSignal): Promise<ExternalLink[]> {
  const links = new Map<string, ExternalLink>();
  for await (const { node, facts } of readFactsOf(site, site.index.nodes.values(), signal)) {
    for (const { target, line, column } of facts.links) {
      const found = /^https?:/i.test(target) && !isTemplate(target) ? URL.parse(target) : null;
      if (found === null || noPlace.test(found.hostname) || address.test(found.hostname)) continue;
      // `https://host/{id}` is a template.
      if (/[{}<>]|%7B|%3C/i.test(target)) continue;
      found.hash = "";
      if (!links.has(found.href)) links.set(found.href, { url: found.href, path: node.path, line, column });
    }
  }
  return [...links.values()];
}
