import { locatePage } from "../find-page.ts";
import type { Heading } from "../parse/dialect.ts";
import { readFacts } from "../parse/read-facts.ts";
import type { Site } from "../site.ts";
import { applySplices, toByteString } from "../text/bytes.ts";
import type { Refactoring } from "../types.ts";
import { createReanchor } from "./anchors.ts";
import { createPlan, refuse, replaceRange } from "./edit-plan.ts";

export interface RenameHeading {
  page: string;
  /** The heading's text or its id. */
  from: string;
  to: string;
}

/** Renames a heading and updates links to its id. */
export async function renameHeading(site: Site, input: RenameHeading): Promise<Refactoring> {
  const located = locatePage(site, input.page);
  if (located.kind === "refused") return located;
  const { node } = located;
  const to = input.to.trim().replace(/\s+/g, " ");
  const from = input.from.trim().replace(/^#+\s*/, "");
  if (to === "") return refuse("a heading needs a text");
  const { headings } = await readFacts(site, node);
  const found = findHeading(headings, from, node.path);
  const plan = createPlan(site);
  if ("reason" in found) return headings.some(({ text }) => text === to) ? plan.finish() : refuse(found.reason);
  const { heading } = found;
  const taken = headings.find((other) => other !== heading && other.text.toLowerCase() === to.toLowerCase());
  // Both headings would have the same id, and external links would open the wrong one.
  if (taken !== undefined) {
    return refuse(`${node.path} already has a heading "${taken.text}" on line ${taken.line}; choose another text`);
  }
  const bytes = await site.tree.read(node.path);
  if (bytes === null) return refuse(`${node.path} is gone`);
  const splice = replaceRange(heading.start, heading.end, to);
  plan.splice(node.path, splice);
  plan.count("headings");
  const reanchor = createReanchor(site, plan);
  const text = toByteString(bytes);
  reanchor.changed(node, text, applySplices(text, [splice]));
  await reanchor.apply();
  return plan.finish();
}

/** The heading that the words name, by its text or its id. */
export function findHeading(
  headings: readonly Heading[],
  words: string,
  path: string,
): { heading: Heading } | { reason: string } {
  const name = words.trim().replace(/^#+\s*/, "");
  const named = headings.filter((heading) => heading.text === name || heading.id === name);
  const loose = headings.filter((heading) => heading.text.toLowerCase() === name.toLowerCase());
  const found = named.length > 0 ? named : loose;
  const [heading] = found;
  if (heading === undefined) {
    const names = headings.slice(0, 8).map(({ text }) => `"${text}"`);
    return {
      reason: `${path} has no heading "${name}"; ${names.length === 0 ? "it has none" : `it has ${names.join(", ")}`}`,
    };
  }
  if (found.length > 1) return { reason: `${path} has ${found.length} headings "${name}"; name one by its id` };
  return { heading };
}
