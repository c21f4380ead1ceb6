import type { PageNode } from "../links/site-index.ts";
import type { Site } from "../site.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { PageFacts } from "./dialect.ts";
import { bytesInlineMax, factsOfLargePage } from "./large-pages.ts";
import { emptyFacts, scanPage } from "./scan-page.ts";

const readsAtOnce = 32;

/** Reads and scans a page again for all its facts: sites keep only the briefs of their pages. */
export async function readFacts(site: Site, node: PageNode): Promise<PageFacts> {
  const bytes = node.brief.unread ? null : await site.tree.read(node.path);
  if (bytes === null) return emptyFacts();
  const dialect = site.model.dialect(node.path);
  return bytes.byteLength <= bytesInlineMax ? scanPage(bytes, dialect) : factsOfLargePage(bytes, dialect);
}

/** The same for many pages, in order, with read-ahead. */
export async function* readFactsOf(
  site: Site,
  nodes: Iterable<PageNode>,
  signal?: AbortSignal,
): AsyncGenerator<{ node: PageNode; facts: PageFacts }> {
  const breathe = createTimeSlice(signal);
  const reading: { node: PageNode; facts: Promise<PageFacts> }[] = [];
  for (const node of nodes) {
    const facts = readFacts(site, node);
    // The error is thrown where the promise is awaited.
    facts.catch(() => undefined);
    reading.push({ node, facts });
    if (reading.length >= readsAtOnce) yield* next();
  }
  while (reading.length > 0) yield* next();

  async function* next(): AsyncGenerator<{ node: PageNode; facts: PageFacts }> {
    const turn = breathe();
    if (turn !== undefined) await turn;
    const first = reading.shift();
    if (first !== undefined) yield { node: first.node, facts: await first.facts };
  }
}
