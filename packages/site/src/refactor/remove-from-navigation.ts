import type { Site } from "../site.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, refuse } from "./edit-plan.ts";
import { locatePage } from "./locate-page.ts";
import { removeEntries } from "./navigation-entries.ts";

/** Takes a page out of the navigation; the page itself stays. */
export async function removeFromNavigation(site: Site, input: { page: string }): Promise<Refactoring> {
  const located = locatePage(site, input.page);
  if (located.kind === "refused") return located;
  const plan = createPlan(site);
  const reason = await removeEntries(site, located.node.path, plan);
  return reason === null ? plan.finish() : refuse(reason);
}
