import {
  createLinkWriter,
  findReferences,
  idsOnPage,
  outlineOf,
  resolveFrom,
  type Site,
  whyUnknown,
} from "@emend/site";
import {
  type CompletionItem,
  CompletionItemKind,
  type CompletionList,
  type DocumentLink,
  type Hover,
  type Location,
  type Position,
  type Range,
} from "vscode-languageserver/node";
import { isWithin } from "./positions.ts";
import type { Workspace } from "./workspace.ts";

/** A file of a workspace, and its site. */
export interface Asked {
  workspace: Workspace;
  site: Site;
  path: string;
}

/** The location of a page, or of a heading on it. */
async function locate({ workspace, site }: Asked, path: string, id: string | null): Promise<Location> {
  const uri = workspace.uriOf(path);
  const top: Range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  if (id === null || id === "") return { uri, range: top };
  const heading = (await outlineOf(site, path)).headings.find((one) => one.id === id);
  return { uri, range: heading === undefined ? top : (await workspace.text(path)).range(heading.start, heading.end) };
}

async function mentionAt({ workspace, site, path }: Asked, position: Position) {
  const text = await workspace.text(path);
  const { mentions } = await outlineOf(site, path);
  for (const mention of mentions) {
    const range = text.range(mention.start, mention.end);
    if (isWithin(range, position)) return { ...mention, range };
  }
  return null;
}

export async function findDefinition(asked: Asked, position: Position): Promise<Location | null> {
  const resolution = (await mentionAt(asked, position))?.resolution;
  if (resolution?.kind === "page") return locate(asked, resolution.path, resolution.hash);
  if (resolution?.kind === "file") return locate(asked, resolution.path, null);
  if (resolution?.kind !== "redirect") return null;
  const end = resolveFrom(asked.site, asked.path, resolution.to);
  return end.kind === "page" ? locate(asked, end.path, end.hash) : null;
}

export async function describeTarget(asked: Asked, position: Position): Promise<Hover | null> {
  const mention = await mentionAt(asked, position);
  if (mention === null) return null;
  const { site } = asked;
  const { resolution, target, range } = mention;
  const say = (value: string): Hover => ({ range, contents: { kind: "markdown", value } });
  switch (resolution.kind) {
    case "page": {
      const node = site.index.nodes.get(resolution.path);
      const { headings } = await outlineOf(site, resolution.path);
      const heading = resolution.hash === null ? undefined : headings.find(({ id }) => id === resolution.hash);
      const title = `**${node?.title ?? resolution.path}**${heading === undefined ? "" : ` › ${heading.text}`}`;
      return say(`${title}\n\n\`${resolution.path}\`${node?.route ? ` · \`${node.route}\`` : ""}`);
    }
    case "file":
      return say(`\`${resolution.path}\``);
    case "redirect":
      return say(`Redirects to \`${resolution.to}\`.`);
    case "unknown":
      return say(`Only the site's build can tell where this leads: ${whyUnknown(site, target)}.`);
    case "missing":
      return say("Links to a missing page.");
    case "external":
      return null;
  }
}

export async function listReferences(
  asked: Asked,
  position: Position,
  includeDeclaration: boolean,
): Promise<Location[]> {
  const { workspace, site, path } = asked;
  const goal = await goalAt(asked, position);
  const locations: Location[] = includeDeclaration ? [await locate(asked, goal.path, goal.id)] : [];
  const references = await findReferences(site, goal);
  for (const [file, group] of Map.groupBy(references, (reference) => reference.path)) {
    const text = await workspace.text(file);
    for (const { start, end } of group) locations.push({ uri: workspace.uriOf(file), range: text.range(start, end) });
  }
  return locations;

  /** The link's target, a heading, or else the page itself. */
  async function goalAt(of: Asked, at: Position): Promise<{ path: string; id: string | null }> {
    const resolution = (await mentionAt(of, at))?.resolution;
    if (resolution?.kind === "page") return { path: resolution.path, id: resolution.hash };
    if (resolution?.kind === "file") return { path: resolution.path, id: null };
    const { headings } = await outlineOf(site, path);
    const heading = headings.find(({ line }) => line === at.line + 1);
    return { path, id: heading === undefined || heading.level === 1 ? null : heading.id };
  }
}

export async function listLinks(asked: Asked): Promise<DocumentLink[]> {
  const { workspace, site, path } = asked;
  const text = await workspace.text(path);
  const { mentions } = await outlineOf(site, path);
  const links: DocumentLink[] = [];
  for (const { start, end, resolution } of mentions) {
    if (resolution.kind !== "page" && resolution.kind !== "file") continue;
    const { uri, range } = await locate(asked, resolution.path, resolution.kind === "page" ? resolution.hash : null);
    // Editors read `#L3` as a line number.
    const target = range.start.line === 0 ? uri : `${uri}#L${range.start.line + 1}`;
    const title = site.index.nodes.get(resolution.path)?.title;
    links.push({ range: text.range(start, end), target, ...(title ? { tooltip: title } : {}) });
  }
  return links;
}

const openings = [
  /\]\(\s*<?([^()\s<>]*)$/,
  /^ {0,3}\[[^\]]+\]:\s*<?([^\s<>]*)$/,
  /\b(?:href|to|link)=["']([^"'<>\s]*)$/,
];
const itemsMax = 200;

/** Completes pages, or the ids of one, inside a link's target. */
export async function completeTarget(asked: Asked, position: Position): Promise<CompletionList | null> {
  const { workspace, site, path } = asked;
  if (!site.index.nodes.has(path)) return null;
  const line = (await workspace.text(path)).line(position.line);
  const before = line.slice(0, position.character);
  const typed = openings.map((opening) => opening.exec(before)?.[1]).find((found) => found !== undefined);
  if (typed === undefined) return null;
  const hashAt = typed.indexOf("#");
  const rest = /^[^\s()<>"'#]*/.exec(line.slice(position.character))?.[0].length ?? 0;
  const end = { line: position.line, character: position.character + rest };
  const from = (length: number): Range => ({
    start: { line: position.line, character: position.character - length },
    end,
  });
  if (hashAt === -1) return completePages(asked, typed, from(typed.length));
  return completeIds(asked, typed.slice(0, hashAt), from(typed.length - hashAt - 1));
}

function completePages({ site, path }: Asked, typed: string, range: Range): CompletionList {
  const write = createLinkWriter(site, path, typed);
  const name = (typed.split("/").at(-1) ?? "").replace(/^\.+$/, "").toLowerCase();
  const items: CompletionItem[] = [];
  let isIncomplete = false;
  for (const page of site.pages) {
    if (page.path === path) continue;
    if (name !== "" && !`${page.path} ${page.route} ${page.title ?? ""}`.toLowerCase().includes(name)) continue;
    const written = write(page.path);
    if (written === null) continue;
    items.push({
      label: written,
      kind: CompletionItemKind.File,
      detail: page.title ?? page.path,
      filterText: `${written} ${page.title ?? ""}`,
      // Neighbours first.
      sortText: `${written.split("/").length}${written}`,
      textEdit: { range, newText: written },
    });
    isIncomplete = items.length >= itemsMax;
    if (isIncomplete) break;
  }
  return { isIncomplete: isIncomplete || name !== "", items };
}

async function completeIds({ site, path }: Asked, target: string, range: Range): Promise<CompletionList | null> {
  const found = target === "" ? ({ kind: "page", path } as const) : resolveFrom(site, path, target);
  if (found.kind !== "page") return null;
  const { headings } = await outlineOf(site, found.path);
  const texts = new Map(headings.map(({ id, text }) => [id, text]));
  const items = idsOnPage(site, found.path)
    .filter((id) => !id.includes("{{"))
    .map((id, i) => ({
      label: `#${id}`,
      kind: CompletionItemKind.Reference,
      detail: texts.get(id) ?? "",
      filterText: `${id} ${texts.get(id) ?? ""}`,
      // In the order of the page.
      sortText: String(i).padStart(6, "0"),
      textEdit: { range, newText: id },
    }));
  return { isIncomplete: false, items };
}
