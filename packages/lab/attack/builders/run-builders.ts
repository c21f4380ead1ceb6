// Hostile changes, judged by real builders and a browser: npm run attack -- builders [--only NAME,…] [--seed N] [--from N] [--rounds N]
// [--every N] [--minutes N] [--record] [--found FOLDER]. Each round after the first tries mutations of all shapes.
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Builder, install } from "../../../site/oracles/builders/builder.ts";
import { fumadocs } from "../../../site/oracles/builders/fumadocs.ts";
import { docusaurus, nextra, starlight, vitepress } from "../../../site/oracles/builders/npm-builders.ts";
import { honestShapes } from "./honest-shapes.ts";
import { askProduct, type NamedShape, nameShape, seeEffects, type Verdict } from "./judge-shapes.ts";
import { mutate } from "./mutate.ts";
import { build } from "./sandbox.ts";
import { js, type Shape } from "./shape.ts";
import { shapes } from "./shapes.ts";
import { type BuilderSite, sites } from "./sites.ts";

export interface BuilderOptions {
  only?: string | undefined;
  seed: number;
  /** The first round. */
  from: number;
  rounds: number;
  /** Tries only each so many of the shapes. */
  every: number;
  minutes: number;
  record: boolean;
  found?: string | undefined;
}

interface Row {
  builder: string;
  path: string;
  text: string;
  effects: readonly string[];
}

const orders = new URL("../../../testkit/src/fixtures/hostile-orders.json", import.meta.url);
const recorded = new URL("../../test/fixtures/builder-effects.json", import.meta.url);
const packaged: readonly Builder[] = [docusaurus, fumadocs, nextra, starlight, vitepress];
const builderOf: Readonly<Record<string, readonly string[]>> = {
  md: ["mkdocs", "jekyll", "hugo", "sphinx", "vitepress", "starlight"],
  mdx: ["mdx", "docusaurus", "nextra", "fumadocs"],
  rst: ["sphinx"],
  adoc: ["asciidoctor"],
};

/** Pages of the table of injected instructions, for every builder that reads them. */
async function orderedShapes(): Promise<Shape[]> {
  const table = JSON.parse(await readFile(orders, "utf8")) as {
    orders: { file?: string; text?: string; must: string }[];
  };
  return table.orders.flatMap(({ file, text, must }) => {
    const ending = file?.split(".").at(-1) ?? "";
    if (text === undefined || must === "published") return [];
    const traced = text
      .replaceAll(/alert\([^)]*\)/g, js)
      .replaceAll(/\b(?:attacker|evil)\.(?:test|example)\b/g, "net-§.test");
    return (builderOf[ending] ?? []).map((builder) => ({
      builder,
      ...(ending === "rst" && { path: "docs/§.rst" }),
      text: traced,
    }));
  });
}

async function versionOf(site: BuilderSite, modules: string | null): Promise<string | null> {
  const dir = process.cwd();
  const { isGood, log } = await build({ site: dir, hits: "/tmp", canary: "/tmp", modules }, site.version, 60_000);
  return isGood ? (/\d+\.\d+[\w.]*/.exec(log)?.[0] ?? "?") : null;
}

/** Nobody was asked about it. */
const isPublished = (verdict: Verdict | undefined) => verdict !== "refused" && verdict !== "asked";

/** Returns the number of changes that had an effect although the product would have published them. */
export async function runBuilders(options: BuilderOptions): Promise<number> {
  const started = performance.now();
  const isOver = () => performance.now() - started > options.minutes * 60_000;
  const all = [...shapes, ...(await orderedShapes())];
  const wanted = sites.filter(({ name }) => options.only === undefined || options.only.split(",").includes(name));
  const rows: Row[] = [];
  const open = new Set<Row>();
  const versions: Record<string, string> = {};
  let failures = 0;
  // Round 0 is the table itself; the later ones are its mutations.
  for (let round = options.from; round < options.from + options.rounds && !isOver(); round += 1) {
    for (const site of wanted) {
      if (isOver()) break;
      const modules = await modulesOf(site);
      const version = modules === undefined ? null : await versionOf(site, modules);
      if (modules === undefined || version === null) {
        console.log(`${site.name}: not available here`);
        continue;
      }
      versions[site.name] = version;
      if (round === 0) failures += await judgeHonest(site, modules);
      const own = all.filter(({ builder }) => builder === site.name);
      const named = own
        .map((shape, index) => {
          const text = round === 0 ? shape.text : mutate(shape.text, options.seed * 1_000_003 + round * 10_007 + index);
          return nameShape(site, { ...shape, text }, `q${round}x${index}q`);
        })
        .filter((_, index) => index % options.every === 0);
      const verdicts = await askProduct(site, named);
      // What is refused is never built. The first round builds it all the same: that is what the record is made of.
      const built = round === 0 ? named : named.filter(({ id }) => isPublished(verdicts.get(id)));
      const { effects, caught, unbuilt } = await seeEffects(site, built, modules);
      const isFault = ({ id }: NamedShape) => verdicts.get(id) === "fault";
      const through = named.filter(
        (shape) => isFault(shape) || (effects.has(shape.id) && isPublished(verdicts.get(shape.id))),
      );
      failures += through.length;
      const count = (verdict: Verdict) => [...verdicts.values()].filter((one) => one === verdict).length;
      console.log(
        `${site.name} ${version}, round ${round}: ${named.length} shapes, ${built.length} built, ${unbuilt.length} do not build, ${effects.size} have an effect, a browser finds ${[...effects.keys()].filter((id) => caught.has(id)).length} of them; ` +
          `${count("ready")} ready, ${count("draft")} draft, ${count("asked")} asked, ${count("refused")} refused, ${count("fault")} faults; ${through.length - count("fault")} with an effect are not refused`,
      );
      if (built.length > 0 && unbuilt.length === built.length) {
        console.log("  nothing was built");
        failures += 1;
      }
      for (const shape of through) await tell(shape, verdicts.get(shape.id), effects.get(shape.id), options.found);
      for (const { id, builder, path, text } of named) {
        const row = { builder, path, text, effects: [...(effects.get(id) ?? [])].sort() };
        if (row.effects.length > 0) rows.push(row);
        if (row.effects.length > 0 && isPublished(verdicts.get(id))) open.add(row);
      }
    }
  }
  if (options.record) await record(rows, open, versions);
  return failures;

  async function tell(
    shape: NamedShape,
    verdict: Verdict | undefined,
    seen: Set<string> | undefined,
    folder?: string,
  ): Promise<void> {
    const found = { verdict, effects: [...(seen ?? [])], ...shape };
    console.log(
      `  ${verdict}: ${[...(seen ?? [])].join(", ")}: ${shape.path}: ${JSON.stringify(shape.text).slice(0, 200)}`,
    );
    if (folder === undefined) return;
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, `${shape.builder}-${shape.id}.json`), `${JSON.stringify(found, null, 1)}\n`);
  }
}

/** Returns how many harmless changes a project whose builds are on would not publish as ready. */
async function judgeHonest(site: BuilderSite, modules: string | null): Promise<number> {
  const own = honestShapes.filter(({ builder }) => builder === site.name);
  const named = own.map((shape, index) => nameShape(site, shape, `q0h${index}q`));
  const verdicts = await askProduct(site, named);
  const { effects, caught, unbuilt } = await seeEffects(site, named, modules);
  const wrong = named.filter(
    ({ id }) => verdicts.get(id) !== "ready" || effects.has(id) || caught.has(id) || unbuilt.includes(id),
  );
  console.log(`${site.name}: ${named.length} harmless changes, ${wrong.length} not published as ready`);
  for (const { id, path, text } of wrong) {
    const why = [verdicts.get(id), ...(caught.get(id) ?? []), ...(unbuilt.includes(id) ? ["does not build"] : [])];
    console.log(`  ${why.join("; ")}: ${path}: ${JSON.stringify(text).slice(0, 200)}`);
  }
  return wrong.length;
}

/** Undefined if its packages cannot be installed. */
async function modulesOf({ packages }: BuilderSite): Promise<string | null | undefined> {
  const builder = packaged.find(({ framework }) => framework === packages);
  if (builder === undefined) return null;
  const home = await install(builder).catch(() => null);
  return home === null ? undefined : join(home, "node_modules");
}

interface Recorded {
  date: string;
  builders: Record<string, string>;
  rows: readonly Row[];
  /** Had an effect and were not refused when this was recorded: holes to close. */
  open: readonly Row[];
}

/** What `npm test` holds the review to, without builders. Results of builders that did not run stay. */
async function record(rows: readonly Row[], open: ReadonlySet<Row>, builders: Record<string, string>): Promise<void> {
  const before = await readFile(recorded, "utf8").then(
    (text) => JSON.parse(text) as Recorded,
    () => null,
  );
  const kept = (list: readonly Row[] = []) => list.filter(({ builder }) => builders[builder] === undefined);
  const lines = (list: readonly Row[]) => list.map((row) => `\n${JSON.stringify(row)}`).join();
  const date = new Date().toISOString().slice(0, 10);
  const head = `"date": "${date}", "builders": ${JSON.stringify({ ...before?.builders, ...builders })}`;
  const held = lines([...kept(before?.rows), ...rows.filter((row) => !open.has(row))]);
  const holes = lines([...kept(before?.open), ...open]);
  await writeFile(recorded, `{ ${head}, "rows": [${held}\n], "open": [${holes}\n] }\n`);
}
