import {
  checkSite,
  confirmFixes,
  type Edits,
  type Finding,
  movePage,
  openSite,
  type Site,
  type SiteTree,
  tallyLinks,
} from "../src/index.ts";
import { type LinkResolver, learnResolver } from "../src/second-resolver/judge-change.ts";
import { pathPart, writtenLinks } from "../src/second-resolver/written-links.ts";
import { contestedErrors, followMove, type JudgedError, makeWorld, type World } from "./judge.ts";

export interface Figures {
  pages: number;
  links: number;
  unjudged: number;
  /** Errors that count as certain, and findings that do not. */
  certain: number;
  /** Certain errors that the judge finds something against. */
  contested: number;
  likely: number;
  unknown: number;
  /** Fixes that are made, and those that the second resolver does not confirm. */
  fixes: number;
  doubted: number;
  /** Links that led somewhere and lead nowhere after all fixes. */
  deadByFixes: number;
  moves: number;
  refused: number;
  /** Links to and from moved pages that the judge can follow, and those that are dead afterwards without a word. */
  followed: number;
  deadByMoves: number;
  planted: number;
  found: number;
  /** Of those found, the ones that count as certain. */
  foundCertain: number;
  cpuMs: number;
}

// A move of a large site reads all of it.
const largePages = 2000;
const largeMovesMax = 1;
const plantedMax = 24;
// All at once, they would be most links of a small site.
const plantedAtOnce = 4;

/** The same tree with some files replaced. */
function changedTree(tree: SiteTree, edits: Edits): SiteTree {
  return {
    async list() {
      const kept = (await tree.list()).filter(({ path }) => !edits.has(path));
      return [...kept, ...[...edits].flatMap(([path, bytes]) => (bytes === null ? [] : [{ path }]))];
    },
    read: async (path) => (edits.has(path) ? (edits.get(path) ?? null) : tree.read(path)),
  };
}

async function readTexts(site: Site): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  for (const path of site.index.nodes.keys()) {
    const bytes = await site.tree.read(path);
    if (bytes !== null) texts.set(path, Buffer.from(bytes).toString("utf8"));
  }
  return texts;
}

/** Some items in an order that the names alone decide. */
function pick<T>(items: readonly T[], max: number, nameOf: (item: T) => string): T[] {
  const mixed = (text: string): number => {
    let value = 7;
    for (const char of text) value = (value * 31 + (char.codePointAt(0) ?? 0)) % 1_000_003;
    return value;
  };
  return items.toSorted((a, b) => mixed(nameOf(a)) - mixed(nameOf(b))).slice(0, max);
}

export interface Measured {
  framework: string;
  figures: Figures;
  /** Check → its certain errors, and how many of them are contested. */
  byCheck: Record<string, [certain: number, contested: number]>;
  /** Planted faults that the check does not report: `path:line target`. */
  missed: string[];
  /** Those that it reports as likely. */
  doubted: string[];
  contested: readonly JudgedError[];
  dead: string[];
  findings: readonly Finding[];
}

export async function measureSite(
  tree: SiteTree,
  { docsDir, movesMax }: { docsDir: string; movesMax: number },
): Promise<Measured> {
  const before = process.cpuUsage();
  const site = await openSite(tree, { docsDir });
  const findings = await checkSite(site);
  const tally = await tallyLinks(site);
  const spent = process.cpuUsage(before);
  const texts = await readTexts(site);
  const files = new Set(site.index.files.keys());
  const reader = learnResolver({ files, texts });
  const shown = findings.filter(({ severity }) => severity !== "info");
  const offered = findings.filter(({ fix }) => fix !== undefined);
  const confirmed = (await confirmFixes({ tree, pages: site.index.nodes.keys() }, findings)).filter(({ fix }) => fix);
  const { missed, doubted, ...planted } = await plant(site, docsDir, texts, reader);
  const certain = shown.filter(({ certainty, severity }) => certainty === undefined && severity === "error");
  const world = await judgeOf(tree, site.framework);
  const contested = await contestedErrors(world, certain);
  const byCheck: Measured["byCheck"] = {};
  for (const { check } of certain) byCheck[check] = [(byCheck[check]?.[0] ?? 0) + 1, 0];
  for (const { check } of contested) (byCheck[check] as [number, number])[1]++;
  const { dead, ...moved } = await tryMoves(site, world, movesMax);
  const figures: Figures = {
    pages: site.pages.length,
    links: tally.links,
    unjudged: tally.unjudged,
    certain: certain.length,
    contested: contested.length,
    likely: shown.filter(({ certainty }) => certainty === "likely").length,
    unknown: shown.filter(({ certainty }) => certainty === "unknown").length,
    fixes: confirmed.length,
    doubted: offered.length - confirmed.length,
    deadByFixes: 0,
    ...moved,
    ...planted,
    cpuMs: Math.round((spent.user + spent.system) / 1000),
  };
  const fixed = new Map<string, Uint8Array>();
  for (const { fix } of confirmed.toReversed()) {
    for (const { path, start, end, text } of (fix?.edits ?? []).toSorted((a, b) => b.start - a.start)) {
      const bytes = Buffer.from(fixed.get(path) ?? (await tree.read(path)) ?? []);
      fixed.set(path, Buffer.concat([bytes.subarray(0, start), Buffer.from(text), bytes.subarray(end)]));
    }
  }
  for (const [path, bytes] of fixed) {
    const olds = writtenLinks(texts.get(path) ?? "");
    for (const [n, link] of writtenLinks(Buffer.from(bytes).toString("utf8")).entries()) {
      const old = olds[n];
      if (old !== undefined && reader(path, old) !== null && reader(path, link) === null) figures.deadByFixes++;
    }
  }
  return { framework: site.framework, figures, byCheck, missed, doubted, contested, dead, findings: shown };
}

const document = /\.(?:mdx?|markdown|mdoc|rst)$/i;
const fileBytesMax = 1024 * 1024;

/** What the judge knows: the whole repository. */
async function judgeOf(tree: SiteTree, framework: string): Promise<World> {
  const files = new Set((await tree.list()).map(({ path }) => path));
  const read = async (path: string): Promise<string | null> => {
    const bytes = await tree.read(path);
    return bytes === null || bytes.length > fileBytesMax ? null : Buffer.from(bytes).toString("utf8");
  };
  const texts = new Map<string, string>();
  for (const path of files) {
    const text = document.test(path) ? await read(path) : null;
    if (text !== null) texts.set(path, text);
  }
  const fronts = framework === "docsify" ? [...files].filter((path) => /(?:^|\/)index\.html$/.test(path)) : [];
  const startsAtTop =
    framework === "docsify" && !(await Promise.all(fronts.map(read))).join().includes("relativePath: true");
  return makeWorld({ files, texts, read, startsAtTop });
}

async function tryMoves(
  site: Site,
  world: World,
  movesMax: number,
): Promise<Pick<Figures, "moves" | "refused" | "followed" | "deadByMoves"> & Pick<Measured, "dead">> {
  const isCommon = (path: string): boolean => !/(?:^|\/)(?:index|readme|_index)\.\w+$/i.test(path);
  const figures = { moves: 0, refused: 0, followed: 0 };
  const dead: string[] = [];
  const max = site.pages.length > largePages ? Math.min(largeMovesMax, movesMax) : movesMax;
  for (const { path } of pick(
    site.pages.filter((page) => isCommon(page.path)),
    max,
    (page) => page.path,
  )) {
    figures.moves++;
    const to = path.replace(/([^/]+)$/, "moved-$1");
    const done = await movePage(site, { from: path, to });
    if (done.kind === "refused") {
      figures.refused++;
      continue;
    }
    const edits = new Map(
      [...done.edits].map(([file, bytes]) => [file, bytes === null ? null : Buffer.from(bytes).toString("utf8")]),
    );
    const told = new Set(done.skipped.map((one) => one.path));
    const judged = followMove(world, { from: path, to, edits, told });
    figures.followed += judged.followed;
    dead.push(...judged.dead);
  }
  return { ...figures, deadByMoves: dead.length, dead };
}

interface Place {
  path: string;
  line: number;
  target: string;
  isPath: boolean;
}

/** Breaks links that the second resolver can follow, one to a line, and counts those that the check then reports. */
async function plant(
  site: Site,
  docsDir: string,
  texts: ReadonlyMap<string, string>,
  reader: LinkResolver,
): Promise<Pick<Figures, "planted" | "found" | "foundCertain"> & Pick<Measured, "missed" | "doubted">> {
  const places: Place[] = [];
  for (const [path, text] of texts) {
    const lines = text.split("\n");
    const taken = new Set<number>();
    for (const link of writtenLinks(text)) {
      const { target, line } = link;
      if (reader(path, link) === null || taken.has(line)) continue;
      if ((lines[line - 1] ?? "").split(target).length !== 2) continue;
      // A fault in the fragment where there is one on a page, otherwise in the path.
      const isPath = !target.includes("#") || (pathPart(target) !== "") === (places.length % 2 === 0);
      if (pathPart(target).length <= 3 && isPath) continue;
      // Only a component reads this property, in its own way.
      if (/\bpath=\{?["'`]$/.test((lines[line - 1] ?? "").split(target)[0] ?? "")) continue;
      taken.add(line);
      places.push({ path, line, target, isPath });
    }
  }
  const chosen = pick(places, plantedMax, ({ path, line }) => `${path}:${line}`);
  const missed: string[] = [];
  const doubted: string[] = [];
  let foundCertain = 0;
  for (let first = 0; first < chosen.length; first += plantedAtOnce) {
    const some = chosen.slice(first, first + plantedAtOnce);
    const tree = changedTree(site.tree, withFaults(some, texts));
    const findings = await checkSite(await openSite(tree, { docsDir, previous: site }));
    for (const { path, line, target } of some) {
      const reported = findings.filter((one) => one.path === path && one.line === line && one.message.includes("zq"));
      const place = `${path}:${line} ${target}`;
      if (reported.length === 0) missed.push(place);
      if (reported.some(({ certainty }) => certainty === undefined)) foundCertain++;
      else if (reported.length > 0) doubted.push(`${place} (${reported[0]?.why})`);
    }
  }
  return { planted: chosen.length, found: chosen.length - missed.length, foundCertain, missed, doubted };
}

function withFaults(places: readonly Place[], texts: ReadonlyMap<string, string>): Edits {
  const edits = new Map<string, Uint8Array>();
  for (const [path, some] of Map.groupBy(places, (one) => one.path)) {
    const lines = (texts.get(path) ?? "").split("\n");
    for (const { line, target, isPath } of some) {
      const [body = "", ...rest] = target.split("#");
      const broken = isPath
        ? [body.replace(/([^/.]+)((?:\.\w+)?\/?)$/, "zq$1zq$2"), ...rest].join("#")
        : `${target}-zq-zq`;
      lines[line - 1] = (lines[line - 1] ?? "").replace(target, () => broken);
    }
    edits.set(path, Buffer.from(lines.join("\n")));
  }
  return edits;
}
