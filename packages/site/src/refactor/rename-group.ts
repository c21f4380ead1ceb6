import type { Label } from "../frameworks/framework.ts";
import { splitPlace, withPlace } from "../navigation/find-list.ts";
import type { Site } from "../site.ts";
import { decodePiece, toByteString } from "../text/bytes.ts";
import { indexLines, type LineIndex } from "../text/line-index.ts";
import type { Refactoring } from "../types.ts";
import { createPlan, refuse, replaceRange } from "./edit-plan.ts";

// Only characters that need no quotes or escapes in JSON, YAML or JavaScript.
const plainName = /^[\p{L}\p{N}][\p{L}\p{N}\p{M} .,&()/+_-]*$/u;

/** Renames a group or a tab of the navigation. */
export async function renameGroup(site: Site, input: { from: string; to: string }): Promise<Refactoring> {
  const { name: from, isAt } = splitPlace(input.from);
  const to = input.to.trim().replace(/\s+/g, " ");
  if (!plainName.test(to) || to.length > 100) return refuse(`"${input.to}" is no plain name for a group`);
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
