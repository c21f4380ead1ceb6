import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { reviewChange } from "@emend/review";
import { openTestTrees } from "@emend/testkit/test-tree.ts";
import { createOverlay } from "@emend/tree";
import { build, canaryVariable, type Place } from "./sandbox.ts";
import type { Shape } from "./shape.ts";
import type { BuilderSite } from "./sites.ts";
import { watchSites } from "./watch-sites.ts";

/** One file of a change, with the shape's own name in it. */
export interface NamedShape {
  id: string;
  builder: string;
  path: string;
  text: string;
}

/** A review that fails publishes nothing, but it is a fault all the same. */
export type Verdict = "ready" | "draft" | "asked" | "refused" | "fault";

export function nameShape(site: BuilderSite, { path = site.page, text }: Shape, id: string): NamedShape {
  const [file, written] = [path, text].map((one) => one.replaceAll("§", id)) as [string, string];
  return { id, builder: site.name, path: file, text: fileOf(site, file, written) };
}

/** A configuration keeps its own text around the change. */
function fileOf({ files, head = "" }: BuilderSite, path: string, text: string): string {
  const base = files[path];
  if (base === undefined) return `${/^\ufeff?---/.test(text) ? "" : head}${text}${text.endsWith("\n") ? "" : "\n"}`;
  const place = "themeConfig: {\n";
  if (!base.includes(place)) return base + text;
  const rest = text.startsWith("nav:") ? base.replace(/^ *nav: .*\n/m, "") : base;
  return rest.replace(place, `${place}    ${text}\n`);
}

const words = { asked: "asked", denied: "refused", flagged: "draft", passed: "ready", fault: "fault" } as const;

/** What the product makes of each change, asked at its edge only. */
export async function askProduct(site: BuilderSite, shapes: readonly NamedShape[]): Promise<Map<string, Verdict>> {
  const trees = await openTestTrees();
  const verdicts = new Map<string, Verdict>();
  try {
    const base = await trees.open({ ...site.files });
    const policy = { docsDir: "", allowedPaths: [], filesMax: 100, bytesMax: 1_000_000 };
    const siteCache = new Map<string, string>();
    for (const { id, path, text } of shapes) {
      const overlay = await createOverlay(base);
      // A name that no tree takes is refused before any review.
      const isSet = await overlay.set(path, Buffer.from(text)).then(
        () => true,
        () => false,
      );
      const review = () => reviewChange({ base, overlay, policy, siteCache }, AbortSignal.timeout(120_000));
      const kind = isSet
        ? await review().then(
            (verdict) =>
              verdict.kind !== "denied" && verdict.constructs.length > 0 ? ("asked" as const) : verdict.kind,
            () => "fault" as const,
          )
        : "denied";
      verdicts.set(id, words[kind]);
    }
  } finally {
    await trees.close();
  }
  return verdicts;
}

const buildMsMax = 8 * 60_000;
const errorCharacters = 3_000;
/** Lines that name one page that cannot be built. */
const failedPages = /^failed: .*$|(?:render static file for pathname|occurred prerendering page) .*$/gm;
/** More named pages than this are a list of warnings. */
const namedMax = 5;

/** Builds the shapes and says for each what was seen. A shape without an entry had no effect. */
export async function seeEffects(
  site: BuilderSite,
  shapes: readonly NamedShape[],
  modules: string | null,
): Promise<{ effects: Map<string, Set<string>>; caught: Map<string, Set<string>>; unbuilt: readonly string[] }> {
  const effects = new Map<string, Set<string>>();
  /** What a project whose builds are on refuses, because a browser found it on a built page. */
  const caught = new Map<string, Set<string>>();
  const note = (id: string, effect: string) => effects.set(id, (effects.get(id) ?? new Set()).add(effect));
  const unbuilt: string[] = [];
  // A configuration needs a build of its own; pages share one.
  const pages = shapes.filter(({ path }) => site.files[path] === undefined);
  const groups = [
    ...(pages.length > 0 ? [pages] : []),
    ...shapes.filter((one) => !pages.includes(one)).map((one) => [one]),
  ];
  const base = await mkdtemp(join(tmpdir(), "emend-builders-base-"));
  try {
    await inFolder(async (place) => {
      const { isBuilt, log } = await buildPages(place, []);
      if (!isBuilt)
        throw new Error(`${site.name} does not build the site without a change: ${log.slice(-errorCharacters)}`);
      await cp(join(place.site, site.output), base, { recursive: true });
    });
    for (const group of groups) await seeGroup(group);
  } finally {
    await rm(base, { recursive: true, force: true });
  }
  return { effects, caught, unbuilt };

  async function seeGroup(group: readonly NamedShape[]): Promise<void> {
    const { left, isBuilt } = await inFolder(async (place) => {
      const built = await buildPages(place, group);
      if (built.isBuilt || group.length === 1) await look(place, built.left);
      return built;
    });
    if (isBuilt) return;
    if (left.length === 1) return void unbuilt.push(...left.map(({ id }) => id));
    // No page is named as the cause: each half is tried.
    const middle = Math.ceil(left.length / 2);
    for (const half of [left.slice(0, middle), left.slice(middle)]) if (half.length > 0) await seeGroup(half);
  }

  /** One page that cannot be built must not hide the others: builds again without those that the builder names. */
  async function buildPages(place: Place, group: readonly NamedShape[]) {
    let left = [...group];
    for (const { id } of group) await writeFile(join(place.canary, `${id}.txt`), `canary-file-${id}\n`);
    for (;;) {
      await rm(place.site, { recursive: true, force: true });
      const files = { ...site.files, ...Object.fromEntries(left.map(({ path, text }) => [path, text])) };
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(place.site, path)), { recursive: true });
        await writeFile(join(place.site, path), text);
      }
      const { isGood, log } = await build(place, site.command, buildMsMax);
      const failed = [...log.matchAll(failedPages)].join("\n");
      // Warnings name pages as well. The error comes last.
      const named = left.filter(({ id }) => (failed || log.slice(-errorCharacters)).includes(id));
      if (isGood || left.length <= 1 || named.length === 0 || (failed === "" && named.length > namedMax))
        return { left, isBuilt: isGood, log };
      unbuilt.push(...named.map(({ id }) => id));
      left = left.filter((one) => !named.includes(one));
    }
  }

  async function look(place: Place, shown: readonly NamedShape[]): Promise<void> {
    for (const name of await readdir(place.hits)) note(name, "code ran on the building machine");
    const ids = shown.map(({ id }) => id);
    const idIn = (path: string) => ids.find((id) => path.includes(id)) ?? (ids.length === 1 ? ids[0] : undefined);
    const output = join(place.site, site.output);
    for (const path of await readdir(output, { recursive: true }).catch(() => [])) {
      const bytes = await readFile(join(output, path)).catch(() => null);
      if (bytes === null) continue;
      for (const [, id = ""] of bytes.toString("latin1").matchAll(/canary-file-(q\w+q)/g))
        note(id, "a file from outside of the site");
      const id = idIn(path);
      if (id !== undefined && bytes.includes(canaryVariable)) note(id, "a variable of the building machine");
    }
    const files = [...Object.values(site.files), ...shown.map(({ text }) => text)];
    const seen = await watchSites({ before: base, after: output }, files);
    for (const { path, kind, text } of seen) {
      const own = idIn(path);
      if (own !== undefined && kind !== "unread")
        caught.set(own, (caught.get(own) ?? new Set()).add(`${kind} ${text.slice(0, 80)}`));
      const [, traced, id = ""] = /^(js|net)-(q\w+q)\.test$/.exec(text) ?? [];
      if (traced === "js" && kind === "contact") note(id, "a script ran in the browser");
      if (traced === "net") note(id, kind === "contact" ? "a host was contacted" : "a link to a new host");
    }
  }

  async function inFolder<T>(use: (place: Place) => Promise<T>): Promise<T> {
    const dir = await mkdtemp(join(tmpdir(), "emend-builders-"));
    const place = { site: join(dir, "site"), hits: join(dir, "hits"), canary: join(dir, "canary"), modules };
    try {
      for (const folder of [place.site, place.hits, place.canary]) await mkdir(folder);
      return await use(place);
    } finally {
      await rm(dir, { recursive: true, force: true });
    }
  }
}
