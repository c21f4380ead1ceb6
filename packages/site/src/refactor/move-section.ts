import { cleanPath, locatePage } from "../find-page.ts";
import { resolveTarget } from "../links/resolve.ts";
import { rewriteTarget } from "../links/rewrite.ts";
import { buildIndex, makeNode, type PageNode, type SiteIndex } from "../links/site-index.ts";
import { dirOf, idRange, isExternal, pageExtension, underDir } from "../links/target.ts";
import type { Heading, Link } from "../parse/dialect.ts";
import { briefOf, targetsOf } from "../parse/page-brief.ts";
import { readFacts, readFactsOf } from "../parse/read-page-facts.ts";
import { scanText } from "../parse/scan-page.ts";
import type { Site } from "../site.ts";
import { applySplices, encodePiece, newlineOf, type Splice, toByteString } from "../text/bytes.ts";
import { createTimeSlice } from "../text/time-slice.ts";
import type { Refactoring } from "../types.ts";
import { planPage } from "./add-page.ts";
import { findHeading, linkLike } from "./anchors.ts";
import { createPlan, type EditPlan, refuse, replaceRange } from "./edit-plan.ts";

export interface MoveSection {
  page: string;
  /** The heading's text or its id. */
  heading: string;
  /** The target page. Created if it does not exist. `./name`: beside the section's page. */
  to: string;
  /** A heading of the target page after whose section to insert. Default: the end of the page. */
  after?: string;
  /** The heading's new text, or the title of a new page. */
  rename?: string;
}

interface Section {
  node: PageNode;
  text: string;
  start: number;
  end: number;
  headings: readonly Heading[];
  links: readonly Link[];
}

/** The new id of each moved id. Null: the top of its page. */
type NewIds = ReadonlyMap<string, string | null>;

/** Moves a heading with its text to another page, and updates links to and in the section. */
export async function moveSection(site: Site, asked: MoveSection): Promise<Refactoring> {
  const section = await readSection(site, asked.page, asked.heading);
  if ("reason" in section) return refuse(section.reason);
  const { path } = section.node;
  const beside = `${underDir(dirOf(path), asked.to.slice(2))}${pageExtension.exec(path)?.[0] ?? ""}`;
  const input = asked.to.startsWith("./") && !pageExtension.test(asked.to) ? { ...asked, to: beside } : asked;
  const plan = createPlan(site);
  // A full path means that file, not another with the same name.
  const isPath = pageExtension.test(input.to.trim());
  const goal = locatePage(site, input.to, isPath);
  const isThere = goal.kind === "found" && (!isPath || goal.node.path.endsWith(cleanPath(input.to) ?? input.to));
  const placed =
    goal.kind === "found" && isThere
      ? await placeInPage(site, section, goal.node, input, plan)
      : await placeInNewPage(site, section, input, plan);
  if ("reason" in placed) return refuse(placed.reason);
  plan.splice(section.node.path, { start: section.start, end: section.end, text: "" });
  await redirectLinks(site, section, placed, plan);
  noteImports(section, plan, placed.path);
  plan.count("sections");
  return plan.finish();
}

async function readSection(site: Site, page: string, words: string): Promise<Section | { reason: string }> {
  const located = locatePage(site, page);
  if (located.kind === "refused") return located;
  const { node } = located;
  const facts = await readFacts(site, node);
  const found = findHeading(facts.headings, words, node.path);
  if ("reason" in found) return found;
  const bytes = await site.tree.read(node.path);
  if (bytes === null) return { reason: `${node.path} is gone` };
  const text = toByteString(bytes);
  const { start, end } = rangeOf(facts.headings, found.heading, text);
  const unclosed = unbalancedTag(text.slice(start, end));
  if (unclosed !== null) {
    return { reason: `the section "${found.heading.text}" ends inside <${unclosed}>; move it with edit_file` };
  }
  const inside = (one: { start: number }) => one.start >= start && one.start < end;
  return { node, text, start, end, headings: facts.headings.filter(inside), links: facts.links.filter(inside) };
}

/** From the heading's line to the next heading of the same or a higher level. */
function rangeOf(headings: readonly Heading[], heading: Heading, text: string): { start: number; end: number } {
  const lineStart = (offset: number) => text.lastIndexOf("\n", offset - 1) + 1;
  const next = headings.find((one) => one.start > heading.start && one.level <= heading.level);
  return { start: lineStart(heading.start), end: next === undefined ? text.length : lineStart(next.start) };
}

const fenced = /^( {0,3})(`{3,}|~{3,})[^\n]*\n[\s\S]*?(?:^ {0,3}\2[`~]*[ \t]*$|$(?![\s\S]))/gm;

/** A component that is opened but not closed in the section, or the reverse. */
function unbalancedTag(section: string): string | null {
  const open = new Map<string, number>();
  const prose = section.replace(fenced, "").replace(/`[^`\n]*`/g, "");
  for (const [, slash, name = "", self] of prose.matchAll(/<(\/?)([A-Z][\w.]*)(?:\s[^<>]*?)?(\/?)>/g)) {
    if (self === "/") continue;
    open.set(name, (open.get(name) ?? 0) + (slash === "/" ? -1 : 1));
  }
  return [...open].find(([, count]) => count !== 0)?.[0] ?? null;
}

interface Placed {
  path: string;
  index: SiteIndex;
  newIds: NewIds;
}

async function placeInPage(
  site: Site,
  section: Section,
  node: PageNode,
  { after, rename }: MoveSection,
  plan: EditPlan,
): Promise<Placed | { reason: string }> {
  if (node.path === section.node.path) return { reason: `the section is on ${node.path} already` };
  const bytes = await site.tree.read(node.path);
  if (bytes === null) return { reason: `${node.path} is gone` };
  const text = toByteString(bytes);
  let at = text.length;
  if (after !== undefined) {
    const { headings } = await readFacts(site, node);
    const found = findHeading(headings, after, node.path);
    if ("reason" in found) return found;
    at = rangeOf(headings, found.heading, text).end;
  }
  const newline = newlineOf(text);
  const body = sectionText(site.index, section, node.path, plan, { rename }).trimEnd().replace(/\r?\n/g, newline);
  const before =
    /\n\s*\n$/.test(text.slice(0, at)) || at === 0
      ? ""
      : text.slice(0, at).endsWith("\n")
        ? newline
        : newline.repeat(2);
  const insertion = `${before}${body}${newline}${at < text.length ? newline : ""}`;
  plan.splice(node.path, { start: at, end: at, text: insertion });
  const whole = text.slice(0, at) + insertion + text.slice(at);
  const placed = scanText(whole, site.model.dialect(node.path)).headings.filter(
    (heading) => heading.start >= at && heading.start < at + insertion.length,
  );
  const newIds = new Map(section.headings.map((heading, i) => [heading.id, placed[i]?.id ?? heading.id] as const));
  return { path: node.path, index: site.index, newIds };
}

/** The heading becomes the new page's title, and headings below it move up. */
async function placeInNewPage(
  site: Site,
  section: Section,
  { to, rename }: MoveSection,
  plan: EditPlan,
): Promise<Placed | { reason: string }> {
  const [top, ...below] = section.headings;
  if (top === undefined) return { reason: "the section has no heading" };
  const content = (path: string) => {
    const text = sectionText(site.index, section, path, plan, { upBy: top.level - 1 });
    return text.replace(/^[^\n]*\n(?:[ \t]*(?:=+|-+)[ \t]*\r?\n)?/, "").trim();
  };
  const planned = await planPage(site, { path: to, title: rename ?? top.text, content }, plan);
  if ("reason" in planned) return planned;
  const { node, text } = planned;
  const nodes = new Map([...site.index.nodes, [node.path, node] as const]);
  const files = new Map([...site.index.files, [node.path, { path: node.path }] as const]);
  const placed = scanText(text, site.model.dialect(node.path)).headings.filter((heading) => heading.level > 1);
  const newIds = new Map<string, string | null>(below.map((heading, i) => [heading.id, placed[i]?.id ?? heading.id]));
  newIds.set(top.id, null);
  return { path: node.path, index: buildIndex(site.model, files, nodes), newIds };
}

/** The section as written on its new page, with its links rewritten to keep their destinations. */
function sectionText(
  index: SiteIndex,
  section: Section,
  path: string,
  plan: EditPlan,
  { upBy = 0, rename }: { upBy?: number; rename?: string | undefined },
): string {
  const { node, text, start, end } = section;
  const moved = new Set(section.headings.map(({ id }) => id));
  const splices: Splice[] = [];
  // The page may be new: links then resolve as from any page in its folder.
  const there = index.nodes.has(path)
    ? index
    : buildIndex(
        index.model,
        index.files,
        new Map([...index.nodes, [path, makeNode(index.model, path, emptyBrief, "")]]),
      );
  for (const link of section.links) {
    if (isExternal(link.target)) continue;
    const found = resolveTarget(index, node.path, link.target, link.kind);
    if (found.kind !== "page" && found.kind !== "file") continue;
    if (found.kind === "page" && found.via === "self" && (found.hash === null || moved.has(found.hash))) continue;
    const isSelf = found.kind === "page" && found.via === "self";
    const now = isSelf ? null : resolveTarget(there, path, link.target, link.kind);
    if (now !== null && (now.kind === "page" || now.kind === "file") && now.path === found.path) continue;
    const like = isSelf ? linkLike(there, link) : link;
    const target = rewriteTarget(there, path, like, found.path, isSelf ? "file" : found.via);
    if (target === null) plan.skip({ path, line: link.line, reason: `no way to write the link to ${found.path}` });
    else splices.push(shifted(replaceRange(link.start, link.end, target), start));
  }
  const [top] = section.headings;
  if (rename !== undefined && top !== undefined)
    splices.push(shifted(replaceRange(top.start, top.end, rename.trim()), start));
  if (upBy > 0) {
    for (const heading of section.headings) {
      const line = text.lastIndexOf("\n", heading.start - 1) + 1;
      const marks = /^ {0,3}#+/.exec(text.slice(line, heading.start))?.[0];
      if (marks !== undefined && marks.trim().length > upBy) {
        splices.push({ start: line - start, end: line - start + upBy, text: "" });
      }
    }
  }
  return applySplices(text.slice(start, end), splices);
}

const emptyBrief = briefOf({ frontMatter: null, headings: [], links: [], ids: [], bareFences: [] });

function shifted(splice: Splice, by: number): Splice {
  return { ...splice, start: splice.start - by, end: splice.end - by };
}

/** Updates links to the moved ids, on all pages. */
async function redirectLinks(site: Site, section: Section, placed: Placed, plan: EditPlan): Promise<void> {
  const { node: page, start, end } = section;
  const movedTo = (from: PageNode, link: Pick<Link, "kind" | "target">) => {
    if (idRange(link.target, site.model.framework) === null || isExternal(link.target)) return undefined;
    const found = resolveTarget(site.index, from.path, link.target, link.kind);
    if (found.kind !== "page" || found.path !== page.path || found.hash === null) return undefined;
    const id = placed.newIds.get(found.hash);
    return id === undefined ? undefined : { id, via: found.via };
  };
  const breathe = createTimeSlice();
  const concerned: PageNode[] = [];
  for (const node of site.index.nodes.values()) {
    await breathe();
    if ([...targetsOf(node.brief)].some((link) => movedTo(node, link) !== undefined)) concerned.push(node);
  }
  for await (const { node, facts } of readFactsOf(site, concerned)) {
    for (const link of facts.links) {
      const moved = movedTo(node, link);
      if (moved === undefined || (node.path === page.path && link.start >= start && link.start < end)) continue;
      const like = moved.via === "self" ? linkLike(placed.index, link) : link;
      const via = moved.via === "self" ? "file" : moved.via;
      const isHere = node.path === placed.path;
      const target = isHere ? link.target : rewriteTarget(placed.index, node.path, like, placed.path, via);
      if (target === null) {
        plan.skip({ path: node.path, line: link.line, reason: `no way to write the link to ${placed.path}` });
        continue;
      }
      const range = idRange(target, site.model.framework);
      const bare = isHere ? "" : target.slice(0, range === null ? undefined : range[0] - 1);
      // Inside a template tag, or after Docsify's `?id=`, only the id changes.
      const isOwn = range !== null && (range[1] < target.length || target[range[0] - 1] !== "#");
      const fragment = moved.id === null ? bare || "#" : `${bare}#${moved.id}`;
      plan.splice(
        node.path,
        replaceRange(
          link.start,
          link.end,
          isOwn ? target.slice(0, range[0]) + (moved.id ?? "") + target.slice(range[1]) : fragment,
        ),
      );
      plan.count("links");
    }
  }
}

/** Notes the imports of the old page that the section uses: they may not work on the new page. */
function noteImports({ node, text, start, end }: Section, plan: EditPlan, path: string): void {
  const section = text.slice(start, end);
  for (const [statement, names = ""] of text
    .slice(0, start)
    .matchAll(/^import\s+([\s\S]*?)\s+from\s+["'][^"']+["'];?/gm)) {
    const used = names
      .match(/[A-Za-z_$][\w$]*/g)
      ?.filter((name) => new RegExp(`[<{]\\s*${name.replaceAll("$", "\\$")}\\b`).test(section));
    if (used === undefined || used.length === 0) continue;
    const line = text.slice(0, text.indexOf(statement)).split("\n").length;
    plan.skip({
      path: node.path,
      line,
      reason: `${encodePiece(used.join(", "))} is imported here and used in what moved: ${path} needs the import`,
    });
  }
}
