import { locatePage } from "../find-page.ts";
import type { Label, NavItem, NavList } from "../frameworks/framework.ts";
import type { PageNode } from "../links/site-index.ts";
import { routeKey } from "../links/target.ts";
import { findList, listFor, pageOfTarget, splitPlace, withPlace } from "../navigation/find-list.ts";
import type { Site } from "../site.ts";
import { decodePiece, indexLines, type LineIndex, type Splice, toByteString } from "../text/bytes.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, type EditPlan, refuse, replaceRange } from "./edit-plan.ts";

export interface AddToNavigation {
  page: string;
  /** The group's name. Default: the group of the page's siblings. */
  group?: string;
  /** A listed page before or after which to insert. */
  before?: string;
  after?: string;
  /** If the page is already listed, move its entry. */
  move?: boolean;
}

interface Spot {
  list: NavList;
  index: number;
}

/** Lists a page in the navigation, or moves its entry. */
export async function addToNavigation(site: Site, input: AddToNavigation): Promise<Refactoring> {
  const located = locatePage(site, input.page);
  if (located.kind === "refused") return located;
  const plan = createPlan(site);
  const entries = entriesOf(site, located.node.path);
  if (entries.length > 0 && input.move !== true) return plan.finish();
  const spot = findSpot(site, located.node.path, input);
  if ("reason" in spot) return refuse(spot.reason);
  const [entry] = entries;
  if (entry !== undefined) {
    if (entries.length > 1) return refuse(`${located.node.path} is listed more than once`);
    if (entry.list === spot.list) {
      await moveWithin(site, spot, entry.index, plan);
      return plan.finish();
    }
    const reason = await removeEntries(site, located.node.path, plan);
    if (reason !== null) return refuse(reason);
  }
  await insertEntry(site, spot, located.node, plan);
  return plan.finish();
}

async function moveWithin(site: Site, { list, index }: Spot, from: number, plan: EditPlan): Promise<void> {
  const bytes = await site.tree.read(list.file);
  const item = list.items[from];
  if (bytes === null || item === undefined) return;
  const ordered = [...list.items.slice(0, index), item, ...list.items.slice(index)].filter(
    (one, at) => one !== item || at === index,
  );
  if (ordered.every((one, at) => one === list.items[at])) return;
  reorder(list, ordered, toByteString(bytes), plan);
  plan.count("navigation");
}

export function findSpot(
  site: Site,
  path: string,
  input: Omit<AddToNavigation, "page" | "move">,
): Spot | { reason: string } {
  if (site.navigation.length === 0) {
    return { reason: `this ${site.framework} site has no list of pages to edit; its pages show up by themselves` };
  }
  const chosen = input.group === undefined ? null : findList(site, input.group);
  if (chosen !== null && "reason" in chosen) return chosen;
  const neighbour = input.before ?? input.after;
  if (neighbour === undefined) {
    const list = chosen ?? listFor(site, path);
    return list === null ? { reason: "the navigation has no list of pages" } : { list, index: list.items.length };
  }
  const located = locatePage(site, neighbour);
  if (located.kind === "refused") return located;
  for (const list of chosen === null ? site.navigation.filter((one) => one.isFixed !== true) : [chosen]) {
    const index = list.items.findIndex(
      ({ target }) => target !== null && pageOfTarget(site.index, target) === located.node.path,
    );
    if (index !== -1) return { list, index: input.before === undefined ? index + 1 : index };
  }
  const behind = input.before === undefined ? groupOfRoot(site, located.node.path, chosen) : null;
  if (behind !== null) return { list: behind, index: 0 };
  return {
    reason: `the navigation${input.group === undefined ? "" : ` group "${input.group}"`} does not list ${located.node.path}`,
  };
}

/** A group's own page comes before the first page of its list. */
function groupOfRoot(site: Site, path: string, chosen: NavList | null): NavList | null {
  const root = site.navigation.find(
    (list) =>
      list.isFixed === true &&
      list.items.some(({ target }) => target !== null && pageOfTarget(site.index, target) === path),
  );
  const name = root?.trail.join("\0");
  const group = site.navigation.find((list) => list.isFixed !== true && list.trail.join("\0") === name);
  return group === undefined || (chosen !== null && chosen !== group) ? null : group;
}

/** What a sidebar shows for a page: the label that its front matter gives for that, or its title. */
function labelOf({ title, brief: { fields } }: PageNode): string | null {
  const label = fields.sidebar_label ?? fields.sidebarTitle;
  return typeof label === "string" && label !== "" ? label : title;
}

export async function insertEntry(site: Site, { list, index }: Spot, node: PageNode, plan: EditPlan): Promise<void> {
  const bytes = await site.tree.read(list.file);
  if (bytes === null) return;
  const target = site.model.navTarget(node.path, node.route, node.brief.fields, list);
  plan.splice(list.file, list.insert(toByteString(bytes), index, target, labelOf(node) ?? target));
  plan.count("navigation");
}

/** Moves pages of one list to its start, in the given order. The others follow in their old order. */
export async function orderNavigation(
  site: Site,
  input: { group?: string; pages: readonly string[] },
): Promise<Refactoring> {
  if (input.pages.length === 0) return refuse("name the pages in their order");
  const paths: string[] = [];
  for (const words of input.pages) {
    const located = locatePage(site, words);
    if (located.kind === "refused") return located;
    if (paths.includes(located.node.path)) return refuse(`${located.node.path} is named twice`);
    paths.push(located.node.path);
  }
  const list = input.group === undefined ? listWith(site, paths) : findList(site, input.group);
  if ("reason" in list) return refuse(list.reason);
  const pageOf = ({ target }: NavItem): string | null => (target === null ? null : pageOfTarget(site.index, target));
  const absent = paths.find((path) => !list.items.some((item) => pageOf(item) === path));
  if (absent !== undefined) return refuse(`the group does not list ${absent}`);
  const named = paths.map((path) => list.items.find((item) => pageOf(item) === path) as NavItem);
  const ordered = [...named, ...list.items.filter((item) => !named.includes(item))];
  const plan = createPlan(site);
  const bytes = await site.tree.read(list.file);
  if (bytes === null) return refuse(`${list.file} is gone`);
  reorder(list, ordered, toByteString(bytes), plan);
  if (ordered.some((item, i) => item !== list.items[i])) plan.count("navigation", paths.length);
  return plan.finish();
}

function listWith(site: Site, paths: readonly string[]): NavList | { reason: string } {
  const found = site.navigation.find((list) => {
    const pages = new Set(list.items.map(({ target }) => (target === null ? null : pageOfTarget(site.index, target))));
    return paths.every((path) => pages.has(path));
  });
  return found ?? { reason: "no navigation group lists all of these pages; name the group or fewer pages" };
}

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

// Only characters that need no quotes or escapes in JSON, YAML or JavaScript.
const plainName = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} .,&()/+_-]*$/u;

/** Renames a group or a tab of the navigation. */
export async function renameGroup(site: Site, input: { from: string; to: string }): Promise<Refactoring> {
  const { name: from, isAt } = splitPlace(input.from);
  const to = input.to.trim().replace(/\s+/g, " ");
  if (!plainName.test(to) || to.length > 100) return refuse(`"${input.to}" is not a plain name for a group`);
  const labels = (await readLabels(site)).filter(({ file, line }) => isAt(file, line));
  const exact = labels.filter(({ text }) => text === from);
  const found = exact.length > 0 ? exact : labels.filter(({ text }) => text.toLowerCase() === from.toLowerCase());
  const plan = createPlan(site);
  const [label] = found;
  if (label === undefined) {
    if (labels.some(({ text }) => text === to)) return plan.finish();
    const names = [...new Set(labels.map(({ text }) => text))].slice(0, 8);
    const hint = names.length === 0 ? "it names none" : `it has ${names.map((name) => `"${name}"`).join(", ")}`;
    return refuse(`the navigation has no group "${from}"; ${hint}`);
  }
  if (found.length > 1) {
    const names = found.slice(0, 5).map(({ file, line }) => withPlace(from, file, line));
    return refuse(
      `the navigation has ${found.length} groups or tabs called "${from}": name one as ${names.join(" or ")}`,
    );
  }
  if (label.text !== to) {
    plan.splice(label.file, replaceRange(label.start, label.end, to));
    plan.count("navigation");
  }
  return plan.finish();
}

async function readLabels(site: Site): Promise<readonly (Label & { text: string; line: number })[]> {
  const files = new Map<string, { text: string; lines: LineIndex }>();
  for (const { file } of site.model.labels) {
    if (files.has(file)) continue;
    const bytes = await site.tree.read(file);
    const text = bytes === null ? "" : toByteString(bytes);
    files.set(file, { text, lines: indexLines(text) });
  }
  return site.model.labels.flatMap((label) => {
    const source = files.get(label.file);
    if (source === undefined) return [];
    const text = decodePiece(source.text.slice(label.start, label.end));
    return { ...label, text, line: source.lines.lineOf(label.start) + 1 };
  });
}

interface Entry {
  list: NavList;
  index: number;
  item: NavItem;
}

/** Every navigation entry of a page. */
function entriesOf(site: Site, path: string): readonly Entry[] {
  return site.navigation.flatMap((list) =>
    list.items.flatMap((item, index) =>
      item.target !== null && pageOfTarget(site.index, item.target) === path ? [{ list, index, item }] : [],
    ),
  );
}

/** Removes a page's entries from the navigation. Returns the reason if that is not certain. */
export async function removeEntries(
  site: Site,
  path: string,
  plan: EditPlan,
  entries = entriesOf(site, path),
): Promise<string | null> {
  for (const entry of entries) {
    const { list } = entry;
    if (entries.filter((one) => one.list === list).length > 1) return `${list.file} lists ${path} twice in one group`;
    const bytes = await site.tree.read(list.file);
    const splices = list.remove?.(entry.index) ?? (bytes === null ? null : cutOut(site, entry, toByteString(bytes)));
    if (splices === null) return `the entry of ${path} in ${list.file} cannot be taken out alone; edit that file`;
    for (const splice of splices) plan.splice(list.file, splice);
    plan.count("navigation");
  }
  return null;
}

// The separator between two list elements in JSON, YAML, JavaScript or Markdown. A comment there would belong to one of
// them.
const gap = /^[\s,]*(?:[-*+][ \t]+)?$/;

/** The element with its separator. The only element of a list, or one with nested elements, stays. */
function cutOut(site: Site, { list, index, item }: Entry, text: string): readonly Splice[] | null {
  const holdsOthers = site.navigation.some(
    (other) =>
      other !== list &&
      other.file === list.file &&
      other.items.some((one) => one.start >= item.start && one.end <= item.end),
  );
  if (list.isFixed === true || holdsOthers) return null;
  const [before, after] = [list.items[index - 1], list.items[index + 1]];
  if (after !== undefined && gap.test(text.slice(item.end, after.start))) {
    return [{ start: item.start, end: after.start, text: "" }];
  }
  if (before !== undefined && after === undefined && gap.test(text.slice(before.end, item.start))) {
    return [{ start: before.end, end: item.end, text: "" }];
  }
  return null;
}

/** Reorders the elements of a list. Each slot keeps its indentation, comma and line. */
function reorder(list: NavList, ordered: readonly NavItem[], text: string, plan: EditPlan): void {
  list.items.forEach((slot, i) => {
    const item = ordered[i] as NavItem;
    if (item !== slot)
      plan.splice(list.file, { start: slot.start, end: slot.end, text: text.slice(item.start, item.end) });
  });
}
