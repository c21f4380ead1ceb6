// Measures public docs sites, pinned by commit: `npm run corpus -- --from DIR [--only NAME] [--findings] [--write]`. DIR
// holds bare repositories as `owner+name/repo`. A random half is frozen: nobody looks at what is found there, so that
// nothing is tuned to it. The command prints its figures and never its findings.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { checkSite, openGitSource, openSite } from "../src/index.ts";
import { type Figures, measureSite } from "./measure-site.ts";

interface CorpusSite {
  name: string;
  commit: string;
  framework: string;
  docs?: string;
  /** Looked at before the corpus existed, so it cannot be frozen. */
  isKnown?: true;
}

const seed = "emend-corpus-1";
// Of the sites that nobody had looked at, so that half of all are frozen.
const frozenShare = 2 / 3;

const { values } = parseArgs({
  options: {
    from: { type: "string" },
    only: { type: "string", default: "" },
    findings: { type: "boolean", default: false },
    write: { type: "boolean", default: false },
  },
});

function isFrozen({ name, isKnown }: CorpusSite): boolean {
  if (isKnown === true) return false;
  return createHash("sha256").update(`${seed} ${name}`).digest().readUInt32BE(0) / 2 ** 32 < frozenShare;
}

function sum(rows: readonly Figures[]): Figures {
  const total = { ...(rows[0] as Figures) };
  for (const key of Object.keys(total) as (keyof Figures)[]) total[key] = rows.reduce((all, row) => all + row[key], 0);
  return total;
}

function cells(name: string, sites: number, figures: Figures): string {
  const { pages, links, unjudged, certain, likely, unknown, fixes, doubted, deadByFixes } = figures;
  const { moves, refused, errorsByMoves, planted, found, cpuMs } = figures;
  const share = (part: number, whole: number): string => (whole === 0 ? "–" : `${((part / whole) * 100).toFixed(1)} %`);
  const row = [
    name,
    sites,
    pages,
    links,
    share(unjudged, links),
    certain,
    likely + unknown,
    `${fixes} (${doubted})`,
    deadByFixes,
    `${moves - refused} of ${moves}`,
    errorsByMoves,
    `${found} of ${planted}`,
    `${(cpuMs / 1000).toFixed(1)} s`,
  ];
  return `| ${row.join(" | ")} |`;
}

const heading = [
  "| sites | number | pages | links | not judged | certain errors | likely and unknown | fixes (not confirmed) | dead by fixes | moves made | errors by moves | planted faults found | processor time |",
  "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
];

if (values.from === undefined) {
  throw new Error("--from is missing: name the folder with the bare repositories, each as owner+name/repo");
}
const list = fileURLToPath(new URL("./sites.json", import.meta.url));
const sites = (JSON.parse(await readFile(list, "utf8")) as CorpusSite[]).filter(({ name }) =>
  name.includes(values.only),
);
const measured: { site: CorpusSite; figures: Figures }[] = [];
const absent: string[] = [];
for (const site of sites) {
  const folder = join(values.from, site.name.replace("/", "+"), "repo");
  if (!existsSync(folder)) {
    absent.push(site.name);
    continue;
  }
  const source = openGitSource(folder);
  const tree = await source.at(site.commit);
  if (values.findings && !isFrozen(site)) {
    for (const one of await checkSite(await openSite(tree, { docsDir: site.docs ?? "" }))) {
      if (one.severity !== "info") {
        const doubt = one.certainty === undefined ? "certain" : `${one.certainty}: ${one.why}`;
        console.log(`${site.name} ${one.path}:${one.line} ${one.severity} ${one.check} ${one.message} (${doubt})`);
      }
    }
  }
  const { framework, figures, missed } = await measureSite(tree, site.docs ?? "");
  if (values.findings && !isFrozen(site)) for (const one of missed) console.log(`${site.name} missed ${one}`);
  source.close();
  if (framework !== site.framework) throw new Error(`${site.name} was read as ${framework}, not as ${site.framework}`);
  measured.push({ site, figures });
  process.stderr.write(`${cells(isFrozen(site) ? "(frozen)" : site.name, 1, figures)}\n`);
}
const rows = [...heading];
for (const [framework, some] of Map.groupBy(
  measured.filter(({ site }) => !isFrozen(site)),
  ({ site }) => site.framework,
)) {
  rows.push(cells(`${framework}, open`, some.length, sum(some.map(({ figures }) => figures))));
}
for (const frozen of [false, true]) {
  const some = measured.filter(({ site }) => isFrozen(site) === frozen).map(({ figures }) => figures);
  if (some.length > 0) rows.push(cells(frozen ? "**all frozen**" : "**all open**", some.length, sum(some)));
}
console.log(rows.join("\n"));
if (absent.length > 0) console.log(`\nNot in ${values.from}: ${absent.join(", ")}`);
if (values.write) {
  const page = fileURLToPath(new URL("../../../docs/frameworks.md", import.meta.url));
  const text = await readFile(page, "utf8");
  const table = `<!-- corpus -->\n\n${rows.join("\n")}\n\n<!-- /corpus -->`;
  await writeFile(
    page,
    text.replace(/<!-- corpus -->[\s\S]*?<!-- \/corpus -->/, () => table),
  );
}
const dead = measured.reduce((all, { figures }) => all + figures.deadByFixes, 0);
if (dead > 0) console.log(`\n--fix turned ${dead} links dead.`);
process.exit(dead > 0 ? 1 : 0);
