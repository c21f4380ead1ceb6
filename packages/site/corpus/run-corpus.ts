// Measures public docs sites, pinned by commit: `npm run corpus -- --from DIR [--only NAME] [--open] [--keep FILE]
// [--moves 5] [--findings] [--write]`. `--open` leaves the frozen half out. DIR holds bare repositories as `owner+name/repo`. FILE keeps the figures of each site, so that a stopped run goes on
// where it was. A random half is frozen: nobody looks at what is found there, so that nothing is tuned to it. The command
// prints its figures and never its findings.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { openGitSource } from "../src/index.ts";
import { type Figures, type Measured, measureSite } from "./measure-site.ts";

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
    open: { type: "boolean", default: false },
    keep: { type: "string" },
    moves: { type: "string", default: "5" },
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
  const { pages, links, unjudged, certain, contested, likely, unknown, fixes, doubted, deadByFixes } = figures;
  const { moves, refused, followed, deadByMoves, planted, found, foundCertain, cpuMs } = figures;
  const share = (part: number, whole: number): string => (whole === 0 ? "–" : `${((part / whole) * 100).toFixed(1)} %`);
  const row = [
    name,
    sites,
    pages,
    links,
    share(unjudged, links),
    `${certain} (${contested})`,
    likely + unknown,
    `${fixes} (${doubted})`,
    deadByFixes,
    `${moves - refused} of ${moves}`,
    `${deadByMoves} of ${followed}`,
    `${found} of ${planted} (${foundCertain})`,
    `${(cpuMs / 1000).toFixed(1)} s`,
  ];
  return `| ${row.join(" | ")} |`;
}

const heading = [
  "| sites | number | pages | links | not judged | certain errors (contested) | likely and unknown | fixes (not confirmed) | dead by fixes | moves made | links dead by moves | planted faults found (certain) | processor time |",
  "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
];

if (values.from === undefined) {
  throw new Error("--from is missing: name the folder with the bare repositories, each as owner+name/repo");
}
const list = fileURLToPath(new URL("./sites.json", import.meta.url));
const sites = (JSON.parse(await readFile(list, "utf8")) as CorpusSite[]).filter(
  (site) => site.name.includes(values.only) && !(values.open && isFrozen(site)),
);
interface Kept {
  name: string;
  commit: string;
  figures: Figures;
  byCheck: Measured["byCheck"];
}
const kept = new Map<string, Kept>();
if (values.keep !== undefined && existsSync(values.keep)) {
  for (const line of (await readFile(values.keep, "utf8")).split("\n").filter(Boolean)) {
    const one = JSON.parse(line) as Kept;
    kept.set(`${one.name} ${one.commit}`, one);
  }
}
const measured: { site: CorpusSite; figures: Figures; byCheck: Measured["byCheck"] }[] = [];
const absent: string[] = [];
for (const site of sites) {
  const known = kept.get(`${site.name} ${site.commit}`);
  const folder = join(values.from, site.name.replace("/", "+"), "repo");
  if (known !== undefined) measured.push({ ...known, site });
  else if (!existsSync(folder)) absent.push(site.name);
  else measured.push({ ...(await measure(site, folder)), site });
}

async function measure(site: CorpusSite, folder: string): Promise<Kept> {
  const { name, commit, docs = "" } = site;
  const source = openGitSource(folder);
  const tree = await source.at(commit);
  const { framework, figures, byCheck, ...details } = await measureSite(tree, {
    docsDir: docs,
    movesMax: Number(values.moves),
  });
  if (values.findings && !isFrozen(site)) {
    for (const one of details.findings) {
      const doubt = one.certainty === undefined ? "certain" : `${one.certainty}: ${one.why}`;
      console.log(`${name} ${one.path}:${one.line} ${one.severity} ${one.check} ${one.message} (${doubt})`);
    }
    for (const { path, line, message } of details.contested)
      console.log(`${name} contested ${path}:${line} ${message}`);
    for (const one of details.missed) console.log(`${name} missed ${one}`);
    for (const one of details.doubted) console.log(`${name} doubted ${one}`);
    for (const one of details.dead) console.log(`${name} dead ${one}`);
  }
  source.close();
  if (framework !== site.framework) throw new Error(`${name} was read as ${framework}, not as ${site.framework}`);
  process.stderr.write(`${cells(isFrozen(site) ? "(frozen)" : name, 1, figures)}\n`);
  const line: Kept = { name, commit, figures, byCheck };
  if (values.keep !== undefined) await appendFile(values.keep, `${JSON.stringify(line)}\n`);
  return line;
}

/** The middle of the sites' shares of links that are not judged. */
function medianUnjudged(some: readonly Figures[]): number {
  const shares = some
    .flatMap(({ links, unjudged }) => (links === 0 ? [] : [unjudged / links]))
    .toSorted((a, b) => a - b);
  return shares[Math.floor(shares.length / 2)] ?? 0;
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
for (const frozen of [false, true]) {
  const some = measured.filter(({ site }) => isFrozen(site) === frozen).map(({ figures }) => figures);
  const share = (medianUnjudged(some) * 100).toFixed(1);
  console.log(`\n${frozen ? "Frozen" : "Open"}: on the median site, ${share} % of the links are not judged.`);
}
for (const frozen of [false, true]) {
  const total = new Map<string, [number, number]>();
  for (const { site, byCheck } of measured) {
    if (isFrozen(site) !== frozen) continue;
    for (const [check, [certain, contested]] of Object.entries(byCheck)) {
      const known = total.get(check) ?? [0, 0];
      total.set(check, [known[0] + certain, known[1] + contested]);
    }
  }
  const kinds = [...total].map(([check, [certain, contested]]) => `${check} ${certain} (${contested})`);
  console.log(`\n${frozen ? "Frozen" : "Open"}: certain errors (contested) by check: ${kinds.join(", ")}`);
}
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
