// Asks the real builders what they make of the table of forms, and writes it down: `npm run oracles [-- mkdocs vitepress …]`.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Builder, type Built, builders, install, run, writeFiles } from "./builders.ts";
import { noBlock, type OracleSite, oracleSites } from "./layouts.ts";
import { followLink, type Judgement, type Output, ownIds, readOutput } from "./read-output.ts";
import type { Truth } from "./truth.ts";

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !builders.some(({ framework }) => framework === name));
if (unknown.length > 0) {
  console.error(
    `There is no oracle "${unknown[0]}". There are: ${builders.map(({ framework }) => framework).join(", ")}.`,
  );
  process.exit(2);
}

const folder = fileURLToPath(new URL("./truth/", import.meta.url));
const made: string[] = [];
for (const builder of builders) {
  if (wanted.length > 0 && !wanted.includes(builder.framework)) continue;
  const home = await install(builder);
  for (const site of oracleSites.filter(({ framework }) => framework === builder.framework)) {
    const startedAt = performance.now();
    const truth = await ask(builder, site, join(home, "sites", site.name));
    const file = join(folder, `${site.name}.json`);
    await writeFile(file, `${JSON.stringify(truth, null, 2)}\n`);
    made.push(file);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.log(`${site.name}: ${truth.links.length} links, ${truth.headings.length} headings in ${seconds} s`);
  }
}
const root = fileURLToPath(new URL("../../../", import.meta.url));
const formatted = await run(join(root, "node_modules/.bin/biome"), ["format", "--write", ...made], root);
if (!formatted.isGood) throw new Error(formatted.log);

async function ask(builder: Builder, site: OracleSite, at: string): Promise<Truth> {
  await writeFiles(at, site.files);
  const built = await builder.build(site, at);
  const made = built.output === null ? null : await readOutput(built.output, site);
  const paths = made === null ? [] : site.links.flatMap((link) => pathOf(made, built, link) ?? []);
  const served = await built.askServer?.([...new Set(paths)]);
  const output = made === null || served === undefined ? made : { ...made, served };
  return {
    builder: builder.framework,
    versions: built.versions,
    date: new Date().toISOString().slice(0, 10),
    routes: output === null ? {} : routesOf(output, built, site),
    links: site.links.map((link) => {
      const { verdict, to } = output === null ? reportedAlone(built, link) : judge(output, built, site, link);
      return to === null ? [link.from, link.target, verdict] : [link.from, link.target, verdict, to];
    }),
    headings: headingsOf(output, built, site),
    blocks: Object.fromEntries(
      [...site.blocks].map(([name, path]) => [
        name,
        output === null
          ? [...(built.ids?.get(path) ?? [])].sort()
          : ownIds(output, site, path, site.blocks.get(noBlock) ?? ""),
      ]),
    ),
  };
}

function fileOf(output: Output, path: string): string {
  return [...output.html].find(([, { source }]) => source === path)?.[0] ?? "";
}

/** The path that a browser asks for when it follows a link. */
function pathOf(output: Output, built: Built, link: OracleSite["links"][number]): string | null {
  const file = fileOf(output, link.path);
  const href = output.html.get(file)?.hrefs.get(link.mark);
  if (href === undefined) return null;
  const url = new URL(href, `http://site${encodeURI(built.pageUrl(file))}`);
  return url.host === "site" ? url.pathname : null;
}

function routesOf(output: Output, built: Built, site: OracleSite): Record<string, string> {
  const served = [...site.marks.keys()].filter((path) => fileOf(output, path) !== "");
  return Object.fromEntries(served.map((path) => [path, decodeURI(built.pageUrl(fileOf(output, path)))]));
}

function judge(output: Output, built: Built, site: OracleSite, link: OracleSite["links"][number]): Judgement {
  const base = built.base.slice(0, -1);
  const pageUrl = base + built.pageUrl(fileOf(output, link.path));
  const seen = followLink(output, site, link, encodeURI(pageUrl), built.base);
  if (seen.href === null || !built.isReported(link, seen.href, pageUrl)) return seen;
  return { ...seen, verdict: seen.verdict === "no anchor" ? "no anchor" : "broken", to: null };
}

/** Where nothing is made, the builder's word is all there is. */
function reportedAlone(built: Built, link: OracleSite["links"][number]): Judgement {
  const isBroken = built.isReported(link, link.target, "");
  const verdict = isBroken ? "broken" : built.lacksAnchor?.(link) === true ? "no anchor" : "ok";
  return { verdict, to: null, href: link.target };
}

function headingsOf(output: Output | null, built: Built, site: OracleSite): Truth["headings"] {
  const page = output === null ? undefined : output.html.get(fileOf(output, site.headingsPath));
  const common = output?.html.get(fileOf(output, site.blocks.get(noBlock) ?? ""))?.ids;
  const ids = (page?.headingIds ?? built.ids?.get(site.headingsPath) ?? []).filter((id) => !common?.has(id ?? ""));
  if (ids.length !== site.headings.length)
    throw new Error(`${site.name}: ${ids.length} ids for ${site.headings.length} headings: ${ids.join(" ")}`);
  return site.headings.map((source, at) => [source, ids[at] ?? null]);
}
