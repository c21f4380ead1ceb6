import { posix } from "node:path";
import type { Layout } from "./random-layouts.ts";

export type Random = (below: number) => number;

/** A small random generator, uniform and the same on every machine. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

const folders = ["", "guides/", "guides/deep/", "api/", "api/v1/"];
const names = ["alpha", "beta", "gamma", "delta", "api-keys", "keys", "Mixed-Case"];

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[random(list.length)] as T;
}

export function randomPlace(random: Random): string {
  return pick(random, [...folders, "new/", "new/place/"]) + pick(random, [...names, "moved", "omega"]);
}

/** Pages with links between them in every form that the layout knows, a few of them dead; copies of some of them in other languages or versions. */
export function randomSite(layout: Layout, random: Random): Record<string, string> {
  const stems = new Set<string>();
  const own = layout.index === undefined ? names : [...names, layout.index, layout.index];
  while (stems.size < 3 + random(5)) {
    const stem = pick(random, folders) + pick(random, own);
    // On some machines, names that differ only in case are one file.
    if (![...stems].some((other) => other.toLowerCase() === stem.toLowerCase())) stems.add(stem);
  }
  const pages = [...stems].map((stem) => `${layout.root}${stem}${layout.extension}`);
  const files: Record<string, string> = { ...layout.config(pages) };
  const part = layout.include === undefined ? null : randomPart(layout, random);
  if (part !== null) files[part] = "Partial S0.\n";
  writePages(layout, random, files, pages, "P", part);
  for (const { dir } of layout.copies ?? []) {
    // Navigation that lists one copy lists all copies.
    const isListed = /"fr\//.test(JSON.stringify(files["docs.json"] ?? "").replaceAll("\\", ""));
    const copied = pages.filter(() => isListed || dir.startsWith("versioned") || random(4) > 0);
    const copies = copied.map((page) => dir + page.slice(layout.root.length));
    if (copies.length > 0) writePages(layout, random, files, copies, "C", null);
  }
  return files;
}

function randomPart(layout: Layout, random: Random): string {
  const { folder = "", isFromTop } = layout.include ?? {};
  return `${layout.root}${isFromTop === true ? "" : pick(random, folders)}${folder}part${layout.extension}`;
}

function writePages(
  layout: Layout,
  random: Random,
  files: Record<string, string>,
  pages: readonly string[],
  letter: string,
  part: string | null,
): void {
  const nowhere = `${posix.dirname(pages[0] as string)}/nowhere${layout.extension}`;
  pages.forEach((page, i) => {
    const lines = Array.from({ length: random(6) }, (_, n) => {
      const number = random(pages.length);
      const goal = random(12) === 0 ? nowhere : (pages[number] as string);
      const hash = random(3) === 0 && goal !== nowhere ? `#part-of-${letter.toLowerCase()}${number}` : "";
      const form = pick(random, layout.forms);
      if (form === "doc") return `See ${write(layout, form, page, goal)}.`;
      const target = write(layout, form, page, goal) + hash;
      const isTemplate = form === "ref" || form === "link";
      // Most builders leave targets of tags unchanged, so there they are addresses.
      const isInTags = !isTemplate && (form !== "file" || layout.readsTags === true);
      return pick(random, [
        `[a](${target})`,
        `> See [b](${target}) there.`,
        ...(isInTags ? [`<a href="${target}">c</a>`] : []),
        ...(isInTags && layout.hasComponents === true ? [`<Card title="e" href="${target}" />`] : []),
        ...(isTemplate ? [] : [`[d][ref${n}]\n\n[ref${n}]: ${target}`]),
      ]);
    });
    if (part !== null && random(3) === 0) {
      const path = layout.include?.isFromTop === true ? part : relative(page, part);
      lines.push(layout.include?.write(path) ?? "");
    }
    const plain = layout.forms.filter((form) => form !== "doc");
    const section = random(3) === 0 ? [`[f](${write(layout, pick(random, plain), page, pick(random, pages))})`] : [];
    files[page] =
      `${layout.front ?? ""}# Page ${letter}${i}\n\n${lines.join("\n\n")}\n\n## Part of ${letter}${i}\n\n${["Text.", ...section].join("\n\n")}\n`;
  });
}

function relative(from: string, goal: string): string {
  const path = posix.relative(posix.dirname(from), goal);
  return path.startsWith(".") ? path : `./${path}`;
}

function write(layout: Layout, form: Layout["forms"][number], from: string, goal: string): string {
  const inRoot = goal.slice(layout.root.length);
  if (form === "ref") return `{{< relref "/${inRoot}" >}}`;
  if (form === "link") return `{% link ${inRoot} %}`;
  if (form === "doc") {
    const path = from.includes("/") ? relative(from, goal).replace(/^\.\//, "") : `/${inRoot}`;
    return `{doc}\`Page <${path.slice(0, -layout.extension.length)}>\``;
  }
  if (form === "route") return layout.route(goal).slice(layout.scope?.(from).length ?? 0);
  if (form === "file") return relative(from, goal);
  const route = layout.route(from);
  const base = route.endsWith("/") ? route : posix.dirname(route);
  const path = posix.relative(base, layout.route(goal)) || ".";
  const slash = layout.route(goal).endsWith("/") ? "/" : "";
  return `${path.startsWith(".") ? path : `./${path}`}${slash}`;
}
