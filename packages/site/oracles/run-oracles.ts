// Builds the table of forms with the real builders and writes the results: `npm run oracles [-- mkdocs vitepress …]`.
// Name one table, such as `vitepress-forms`, to build only that. `--refactorings` only tests that refactored sites
// still build.
import { mkdir, writeFile } from "node:fs/promises";
import { setPriority } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { dirOf, joinPath, splitTarget } from "../src/links/target.ts";
import { refactoringCases } from "../test/support/refactoring-cases.ts";
import { type Builder, install, type Reading, run, writeFiles } from "./builders/builder.ts";
import { docsify } from "./builders/docsify.ts";
import { fumadocs } from "./builders/fumadocs.ts";
import { docusaurus, mintlify, nextra, starlight, vitepress } from "./builders/npm-builders.ts";
import { hugo, jekyll, mdbook, mkdocs, sphinx } from "./builders/system-builders.ts";
import type { Truth } from "./compare.ts";
import { oracleSites } from "./forms.ts";
import { noBlock, type OracleSite } from "./oracle-site.ts";
import { followLink, type Judgement, type Output, ownIds, readOutput } from "./read-output.ts";
import { buildRefactorings } from "./refactorings.ts";

type Built = Reading & Required<Pick<Reading, "base" | "isReported">> & Pick<Builder, "pageUrl">;

const builders: readonly Builder[] = [
  mkdocs,
  vitepress,
  docusaurus,
  starlight,
  nextra,
  mintlify,
  hugo,
  jekyll,
  sphinx,
  mdbook,
  docsify,
  fumadocs,
];

const isOnlyRefactorings = process.argv.includes("--refactorings");
const wanted = process.argv.slice(2).filter((argument) => argument !== "--refactorings");
const tables = oracleSites.filter(({ name }) => wanted.includes(name)).map(({ name }) => name);
const unknown = wanted.filter(
  (name) => !tables.includes(name) && !builders.some(({ framework }) => framework === name),
);
if (unknown.length > 0) {
  console.error(
    `There is no oracle "${unknown[0]}". There are: ${builders.map(({ framework }) => framework).join(", ")}.`,
  );
  process.exit(2);
}

// Builders are heavy: other processes get priority.
setPriority(5);
const folder = fileURLToPath(new URL("./truth/", import.meta.url));
const made: string[] = [];
for (const builder of builders) {
  const isWhole = wanted.length === 0 || wanted.includes(builder.framework);
  const sites = oracleSites.filter(
    ({ framework, name }) => framework === builder.framework && (isWhole || tables.includes(name)),
  );
  if (!isWhole && sites.length === 0) continue;
  const home = await install(builder);
  for (const site of isOnlyRefactorings ? [] : sites) {
    const startedAt = performance.now();
    const truth = await ask(builder, site, join(home, "sites", site.name));
    await write(`${site.name}.json`, truth);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    console.log(`${site.name}: ${truth.links.length} links, ${truth.headings.length} headings in ${seconds} s`);
  }
  const cases = isWhole ? refactoringCases.filter(({ framework }) => framework === builder.framework) : [];
  if (cases.length > 0)
    await write(`refactorings/${builder.framework}.json`, await buildRefactorings(builder, cases, home));
}
const root = fileURLToPath(new URL("../../../", import.meta.url));
const formatted = await run(join(root, "node_modules/.bin/biome"), ["format", "--write", ...made], root);
if (!formatted.isGood) throw new Error(formatted.log);

async function write(name: string, truth: unknown): Promise<void> {
  const file = join(folder, name);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${JSON.stringify(truth, null, 2)}\n`);
  made.push(file);
}

async function ask(builder: Builder, site: OracleSite, at: string): Promise<Truth> {
  await writeFiles(at, site.files);
  const ran = await builder.make(at);
  const made = builder.output === null ? null : await readOutput(join(at, builder.output), site).catch(() => null);
  if (builder.output !== null && (made === null || !ran.isGood))
    throw new Error(`${site.name} did not build:\n${ran.log.slice(-4000)}`);
  const reading = await builder.read(ran, site, at);
  const built: Built = { base: "/", pageUrl: builder.pageUrl, isReported: () => false, ...reading };
  const asked = site.links.flatMap((link) => {
    const path = made === null ? null : pathOf(made, built, link);
    return path === null ? [] : [{ path, from: link.path }];
  });
  const served = await built.askServer?.(asked);
  const output = made === null || served === undefined ? made : { ...made, served };
  return {
    builder: builder.framework,
    versions: await builder.versions(at),
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
        built.ids !== undefined
          ? [...(built.ids.get(path) ?? [])].sort()
          : output === null
            ? []
            : ownIds(output, site, path, site.blocks.get(noBlock) ?? ""),
      ]),
    ),
  };
}

function fileOf(output: Output, path: string): string {
  return [...output.html].find(([, { source }]) => source === path)?.[0] ?? "";
}

/** The path that a browser requests when it follows a link. */
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
  if (seen.verdict === "no link" && built.dropsBroken === true) {
    const { path, hash } = splitTarget(link.target);
    const isThere = path === "" || site.files[joinPath(dirOf(link.path), path) ?? ""] !== undefined;
    return { ...seen, verdict: hash && isThere ? "no anchor" : "broken" };
  }
  const reported = seen.href === null ? false : built.isReported(link, seen.href, pageUrl);
  if (reported === false) return seen;
  if (reported !== true) return { ...seen, verdict: reported, to: null };
  return { ...seen, verdict: seen.verdict === "no anchor" ? "no anchor" : "broken", to: null };
}

/** Without output, only the builder's report is available. */
function reportedAlone(built: Built, link: OracleSite["links"][number]): Judgement {
  const isBroken = built.isReported(link, link.target, "");
  const verdict = isBroken ? "broken" : built.lacksAnchor?.(link) === true ? "no anchor" : "ok";
  return { verdict, to: null, href: link.target };
}

function headingsOf(output: Output | null, built: Built, site: OracleSite): Truth["headings"] {
  const page = output === null ? undefined : output.html.get(fileOf(output, site.headingsPath));
  const common = output?.html.get(fileOf(output, site.blocks.get(noBlock) ?? ""))?.ids;
  const ids = (built.ids?.get(site.headingsPath) ?? page?.headingIds ?? []).filter((id) => !common?.has(id ?? ""));
  if (ids.length !== site.headings.length)
    throw new Error(`${site.name}: ${ids.length} ids for ${site.headings.length} headings: ${ids.join(" ")}`);
  return site.headings.map((source, at) => [source, ids[at] ?? null]);
}
