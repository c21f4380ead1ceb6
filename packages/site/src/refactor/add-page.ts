import { stringify } from "yaml";
import { cleanPath } from "../find-page.ts";
import { makeNode, type PageNode } from "../links/site-index.ts";
import { isBelow, pageExtension, stripExtension, underDir } from "../links/target.ts";
import { readFrontMatter } from "../parse/front-matter.ts";
import { briefOf } from "../parse/page-brief.ts";
import { scanText } from "../parse/scan-page.ts";
import type { Site } from "../site.ts";
import { encodePiece } from "../text/bytes.ts";
import type { Refactoring } from "../types.ts";
import { findSpot, insertEntry } from "./edit-navigation.ts";
import { createPlan, type EditPlan, refuse } from "./edit-plan.ts";

export interface AddPage {
  path: string;
  title?: string;
  content: string;
  group?: string;
}

// In these frameworks a page starts with a heading; the others have the title in front matter.
const titledByHeading = new Set(["markdown", "mkdocs", "gitbook", "vitepress", "nextra"]);

/** Adds a page and lists it in the navigation. */
export async function addPage(site: Site, input: AddPage): Promise<Refactoring> {
  const plan = createPlan(site);
  const planned = await planPage(site, { ...input, content: () => encodePiece(input.content) }, plan);
  return "reason" in planned ? refuse(planned.reason) : plan.finish();
}

/** The same as a part of a larger change. `content` gets the path of the new page. Texts are byte strings. */
export async function planPage(
  site: Site,
  input: Omit<AddPage, "content"> & { content(path: string): string },
  plan: EditPlan,
): Promise<{ node: PageNode; text: string } | { reason: string }> {
  const clean = cleanPath(input.path);
  if (clean === null || clean.endsWith("/")) return { reason: `"${input.path}" is not a valid path for a page` };
  const whole = pageExtension.test(clean) ? clean : clean + usualExtension(site);
  const inRoot = isBelow(whole, site.root) ? whole : underDir(site.root, whole);
  // Docs may be outside the folder of the configuration.
  const path = site.model.role(inRoot) !== "page" && site.model.role(whole) === "page" ? whole : inRoot;
  const taken = [path, ...[".md", ".mdx"].map((extension) => stripExtension(path) + extension)].find((one) =>
    site.index.files.has(one),
  );
  if (taken !== undefined) return { reason: `${taken} already exists; edit it instead` };
  if (site.model.role(path) !== "page") return { reason: `${path} would be no page of this ${site.framework} site` };
  const text = withTitle(site, input.title, input.content(path));
  const node = makeNode(site.model, path, briefOf(scanText(text, site.model.dialect(path))), "");
  const holder = site.index.routes.get(node.route.slice(1));
  if (holder !== undefined) return { reason: `${holder} already has the route ${node.route}` };
  plan.create(path, text);
  plan.count("pages");
  if (site.navigation.length > 0 && (site.model.listsPages || input.group !== undefined)) {
    const spot = findSpot(site, path, input.group === undefined ? {} : { group: input.group });
    if ("reason" in spot) return spot;
    await insertEntry(site, spot, node, plan);
  } else if (input.group !== undefined) {
    return { reason: `this ${site.framework} site has no navigation to add the group "${input.group}" to` };
  }
  return { node, text };
}

function usualExtension(site: Site): string {
  let mdx = 0;
  for (const { path } of site.pages) if (path.endsWith(".mdx")) mdx++;
  const isNewMintlify = site.framework === "mintlify" && site.pages.length === 0;
  return isNewMintlify || mdx * 2 > site.pages.length ? ".mdx" : ".md";
}

function withTitle(site: Site, title: string | undefined, content: string): string {
  const body = content.endsWith("\n") || content === "" ? content : `${content}\n`;
  if (title === undefined) return body;
  const hasTitle = readFrontMatter(body, 0)?.fields.title !== undefined || /^#\s/.test(body);
  if (hasTitle || readFrontMatter(body, 0) !== null) return body;
  if (titledByHeading.has(site.framework)) return `# ${encodePiece(title)}\n\n${body}`;
  return `---\ntitle: ${encodePiece(stringify(title, { lineWidth: 0 }).trimEnd())}\n---\n\n${body}`;
}
