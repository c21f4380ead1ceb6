import { routeKey } from "../links/route.ts";
import type { Site } from "../site.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, refuse } from "./edit-plan.ts";
import { locatePage } from "./locate-page.ts";
import { type Entry, entriesOf, removeEntries } from "./navigation-entries.ts";

/** Removes a page from the navigation and keeps the page. An entry without a page is named by its text. */
export async function removeFromNavigation(site: Site, input: { page: string }): Promise<Refactoring> {
  const located = locatePage(site, input.page);
  const entries = located.kind === "found" ? entriesOf(site, located.node.path) : entriesNamed(site, input.page);
  if (located.kind === "refused" && entries.length === 0) return located;
  const plan = createPlan(site);
  const name = located.kind === "found" ? located.node.path : input.page;
  const reason = await removeEntries(site, name, plan, entries);
  return reason === null ? plan.finish() : refuse(reason);
}

function entriesNamed(site: Site, words: string): readonly Entry[] {
  const name = routeKey(words.trim());
  return site.navigation.flatMap((list) =>
    list.items.flatMap((item, index) =>
      item.target !== null && routeKey(item.target) === name ? [{ list, index, item }] : [],
    ),
  );
}
