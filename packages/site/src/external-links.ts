import { isTemplate } from "./links/target.ts";
import { readFactsOf } from "./parse/read-facts.ts";
import type { Site } from "./site.ts";

export interface ExternalLink {
  /** Without its fragment. */
  url: string;
  /** Where it stands first. */
  path: string;
  line: number;
  column: number;
}

// Names that stand for any name, and machines that only their own network knows.
const noPlace =
  /^(?:localhost|.*\.(?:localhost|test|example|invalid|local|internal)|(?:.*\.)?example\.(?:com|org|net))$/i;
const address = /^(?:[\d.]+|\[.*\])$/;

/** The addresses outside of a site that its pages lead to, each once. */
export async function externalLinks(site: Site, signal?: AbortSignal): Promise<ExternalLink[]> {
  const links = new Map<string, ExternalLink>();
  for await (const { node, facts } of readFactsOf(site, site.index.nodes.values(), signal)) {
    for (const { target, line, column } of facts.links) {
      const found = /^https?:/i.test(target) && !isTemplate(target) ? URL.parse(target) : null;
      if (found === null || noPlace.test(found.hostname) || address.test(found.hostname)) continue;
      // `https://host/{id}` stands for many.
      if (/[{}<>]|%7B|%3C/i.test(target)) continue;
      found.hash = "";
      if (!links.has(found.href)) links.set(found.href, { url: found.href, path: node.path, line, column });
    }
  }
  return [...links.values()];
}
