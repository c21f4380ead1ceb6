import { resolveTarget } from "./resolve.ts";
import type { SiteIndex } from "./site-index.ts";

const includesDepthMax = 8;

function collect(index: SiteIndex, path: string, into: Set<string>, seen: Set<string>, depth: number): void {
  const node = index.nodes.get(path);
  // Includes may form a circle.
  if (node === undefined || seen.has(path) || depth > includesDepthMax) return;
  seen.add(path);
  for (const heading of node.facts.headings) into.add(heading.id);
  for (const id of node.facts.ids) into.add(id);
  for (const link of node.facts.links) {
    if (link.kind !== "include") continue;
    const found = resolveTarget(index, path, link.target, "include");
    if (found.kind === "page") collect(index, found.path, into, seen, depth + 1);
  }
}

/** The ids on a page, those of the partials it includes too. */
export function anchorsOf(index: SiteIndex, path: string): ReadonlySet<string> {
  const known = index.anchors.get(path);
  if (known !== undefined) return known;
  const anchors = new Set<string>();
  collect(index, path, anchors, new Set(), 0);
  index.anchors.set(path, anchors);
  return anchors;
}

function letters(id: string): string {
  return id.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");
}

/** Fragments that every page has, and those that are no ids: text fragments, lines of a file, routes of a script. */
function isUniversal(hash: string): boolean {
  return hash === "" || hash === "top" || hash === "_top" || hash.startsWith(":~:") || /^(?:\/|L\d|!)/.test(hash);
}

export function hasAnchor(index: SiteIndex, path: string, hash: string): boolean {
  if (isUniversal(hash)) return true;
  const id = hash.split(":~:")[0] as string;
  const ids = anchorsOf(index, path);
  if (ids.has(id) || index.model.looseAnchors !== true) return ids.has(id);
  const goal = letters(id);
  for (const other of ids) if (letters(other) === goal) return true;
  return false;
}
