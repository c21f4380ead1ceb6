// Real changes of code in which people changed the docs too: would the docs of before have been reported?
import { createHash } from "node:crypto";
import {
  type ChangedFacts,
  compareFacts,
  compareReferences,
  factFinding,
  indexSource,
  isAboutPast,
  isSourcePath,
  openGitSource,
  type PageBlock,
  pageBlocks,
  rankBlocks,
  readFacts,
  runGit,
  type SiteTree,
  type SourceIndex,
} from "@emend/site";
import { questionAbout, verifiedDrift } from "../../server/src/claims/drift/ask-about-change.ts";
import { codeHunks } from "../../server/src/claims/drift/code-change.ts";
import type { Question } from "../../server/src/claims/drift/reader.ts";
import { ofFact, ofStale } from "../../server/src/gate/judge-pull.ts";
import { type Change, type Hunk, isOfCode, isRelated, listChanges } from "./truth-changes-list.ts";
import { type Cost, costWords, requestsFor } from "./truth-costs.ts";
import { createPageReader, isOutside, isPage, type Repository } from "./truth-replay.ts";

const blocksMax = 20;

interface Found {
  page: string;
  line: number;
  isError: boolean;
  words: string;
}

/** Counts by name. Names of one kind begin alike. */
class Tally {
  readonly #counts = new Map<string, number>();
  add(name: string): void {
    this.#counts.set(name, this.get(name) + 1);
  }
  get(name: string): number {
    return this.#counts.get(name) ?? 0;
  }
}

/** An answer of a model to a question about a change, recorded to be replayed without one. */
interface Recorded {
  model: string;
  question: string;
  answer: unknown;
}

interface Halves {
  open: Tally;
  frozen: Tally;
}

export interface ChangeOptions {
  /** The folder of a clone. */
  clone(repository: { name: string; commit: string }): Promise<string>;
  repositories: readonly (Repository & { commit: string })[];
  /** Without a model too, which takes an hour. */
  replays: boolean;
  recorded: readonly Recorded[];
  /** What each change would cost, for those who put several runs together. */
  onCosts?(costs: readonly Cost[]): void;
  /** Asks a model whose answer is not recorded, and records it. Absent: only what is recorded counts. */
  ask?(question: Question): Promise<unknown>;
}

/** Replays changes of code with the docs of before, and prints the figures of both halves, and findings of the open one. */
export async function evaluateChanges(options: ChangeOptions): Promise<void> {
  const halves: Halves = { open: new Tally(), frozen: new Tally() };
  const costs: Cost[] = [];
  for (const repository of options.repositories) {
    console.log(repository.name);
    const gitDir = await options.clone(repository);
    const changes = await listChanges(gitDir, repository);
    if (options.replays) await replayChanges({ gitDir, repository, changes }, halves, costs);
    await askAboutSome({ gitDir, repository, changes }, options, halves);
  }
  options.onCosts?.(costs);
  if (costs.length > 0) console.log(costWords(costs));
  for (const half of ["open", "frozen"] as const) {
    const tally = halves[half];
    const share = (name: string, of: string) => `${tally.get(name)} of ${tally.get(of)}`;
    if (options.replays)
      console.log(`
${half} half, without a model
  changes that replaced text of the docs: ${share("stale: reported there", "stale")} reported there, ${share("stale: error there", "stale")} as errors
  places that they replaced: ${share("place: reported", "place")} reported, ${share("place: error", "place")} as errors
  changes that only added text: ${share("new: reported there", "new")} reported on that page
  changes of code alone: ${share("none: errors", "none")} with an error, ${share("none: any", "none")} with any finding
  errors where the authors changed the docs: ${share("error: there", "error")} of changes with docs; warnings: ${share("warning: there", "warning")}
  places whose block is among the ${blocksMax} nearest: ${share("place: ranked", "place")}`);
    console.log(`
${half} half, with the recorded answers
  changes that replaced text, asked and reported there: ${share("stale: read there", "stale: read")}, anywhere: ${share("stale: read any", "stale: read")}
    of those whose text follows the code's words: ${share("related stale: read there", "related stale: read")}
  changes that only added text, asked and reported on that page: ${share("new: read there", "new: read")}, anywhere: ${share("new: read any", "new: read")}
    of those whose text follows the code's words: ${share("related new: read there", "related new: read")}
  changes of code alone, asked and reported: ${share("none: read any", "none: read")}`);
  }
}

interface Listed {
  gitDir: string;
  repository: Repository;
  changes: readonly Change[];
}

async function replayChanges({ gitDir, repository, changes }: Listed, halves: Halves, costs: Cost[]): Promise<void> {
  const source = openGitSource(gitDir);
  const readPages = createPageReader(repository);
  let previous: SourceIndex | undefined;
  const index = async (tree: SiteTree) => {
    const isDocs = (path: string) => isOutside(repository, path);
    previous = await indexSource(tree, { ...(previous && { previous }), isOutside: isDocs });
    return previous;
  };
  for (const change of changes) {
    const tally = halves[change.half];
    const parent = (await runGit(gitDir, ["rev-parse", `${change.commit}^`])).trim();
    const docs = await source.at(parent);
    const before = await index(docs);
    const start = performance.now();
    const after = await index(await source.at(change.commit));
    const blocks = await blocksOf(docs, repository);
    const facts = compareFacts(await changedFacts(docs, after.tree, change.code), blocks);
    const stale = await compareReferences(await readPages(docs, null), before, after);
    const seconds = (performance.now() - start) / 1_000;
    const judged = [...stale.map((one) => ofStale(one, [])), ...facts.map((one) => ofFact(one, blocks))];
    const hunks = await codeHunks(await patchOf(gitDir, change.commit), (path) => !isOfCode(repository, path));
    costs.push({ seconds, ...(await requestsFor({ blocks, after, hunks }, judged)) });
    const found: Found[] = [
      ...facts.map((fact) => ({
        page: fact.block.path,
        line: fact.pageLine,
        isError: factFinding(fact).severity === "error",
        words: factFinding(fact).message,
      })),
      ...stale.map(({ reference, gone, isCertain }) => ({
        page: reference.page,
        line: reference.line,
        isError: isCertain,
        words: `gone ${gone}`,
      })),
    ];
    count(tally, change, found, { all: "any", there: "reported there", error: "error there" });
    const best = rankBlocks(blocks, change.code, blocksMax);
    for (const hunk of change.pages) {
      if (hunk.removed.length === 0) continue;
      tally.add("place");
      if (best.some((block) => isAt(block, hunk))) tally.add("place: ranked");
      const hits = found.filter((one) => isIn(hunk, one));
      if (hits.length > 0) tally.add("place: reported");
      if (hits.some(({ isError }) => isError)) tally.add("place: error");
    }
    for (const one of found) {
      const isThere = change.pages.some((hunk) => isIn(hunk, one));
      const level = one.isError ? "error" : "warning";
      if (change.kind !== "none") tally.add(level);
      if (isThere) tally.add(`${level}: there`);
      if (change.half === "open")
        console.log(
          `  ${change.kind === "none" ? "!" : isThere ? "+" : "?"} ${level} ${change.commit.slice(0, 9)} ${one.page}:${one.line} ${one.words}`,
        );
    }
  }
  source.close();
}

function patchOf(gitDir: string, commit: string): Promise<string> {
  return runGit(gitDir, ["diff", "-U3", "--no-renames", "--no-color", `${commit}^`, commit]);
}

/** How many changes of each kind and half of a repository are asked about. */
const askedMax = 1;

async function askAboutSome(
  { gitDir, repository, changes }: Listed,
  { recorded, ask }: ChangeOptions,
  halves: Halves,
): Promise<void> {
  const source = openGitSource(gitDir);
  const left = new Map<string, number>();
  for (const change of changes) {
    const group = `${change.kind} ${change.half}`;
    if ((left.get(group) ?? askedMax) === 0) continue;
    const hunks = await codeHunks(await patchOf(gitDir, change.commit), (path) => !isOfCode(repository, path));
    const blocks = await blocksOf(await source.at(`${change.commit}^`), repository);
    const asked = hunks.length === 0 ? null : questionAbout(blocks, hunks);
    if (asked === null) continue;
    left.set(group, (left.get(group) ?? askedMax) - 1);
    const key = createHash("sha256").update(JSON.stringify(asked.question)).digest("hex");
    const known = recorded.find(({ question }) => question === key);
    const answer = known === undefined ? await ask?.(asked.question) : known.answer;
    if (answer === undefined) continue;
    const tally = halves[change.half];
    const kinds = isRelated(change) ? [change.kind, `related ${change.kind}`] : [change.kind];
    for (const kind of kinds) tally.add(`${kind}: read`);
    const read = verifiedDrift(answer, asked.best, hunks).map(({ block, line, why }) => ({
      page: block.path,
      line,
      isError: false,
      words: why,
    }));
    for (const kind of kinds)
      count(tally, { ...change, kind }, read, { all: "read any", there: "read there", error: "read as error" });
    if (change.half === "frozen") continue;
    for (const { page, line, words } of read)
      console.log(`  ${change.kind} ${change.commit.slice(0, 9)} ${page}:${line} ${words}`);
  }
  source.close();
}

function count(
  tally: Tally,
  { kind, pages }: { kind: string; pages: readonly Hunk[] },
  found: readonly Found[],
  names: Record<"all" | "there" | "error", string>,
): void {
  if (names.all === "any") tally.add(kind);
  if (found.length > 0) tally.add(`${kind}: ${names.all}`);
  if (kind === "none" && found.some(({ isError }) => isError)) tally.add("none: errors");
  const there = found.filter((one) => pages.some((hunk) => isIn(hunk, one)));
  if (there.length > 0) tally.add(`${kind}: ${names.there}`);
  if (there.some(({ isError }) => isError)) tally.add(`${kind}: ${names.error}`);
}

async function changedFacts(before: SiteTree, after: SiteTree, code: readonly Hunk[]): Promise<ChangedFacts[]> {
  const facts: ChangedFacts[] = [];
  for (const path of new Set(code.map((hunk) => hunk.path))) {
    if (!isSourcePath(path)) continue;
    const [old, now] = [await before.read(path), await after.read(path)];
    if (old === null || now === null) continue;
    const texts = { was: Buffer.from(old).toString(), now: Buffer.from(now).toString() };
    facts.push({ path, before: await readFacts(path, texts.was), after: await readFacts(path, texts.now), texts });
  }
  return facts;
}

function isAt(block: PageBlock, { path, line, removed }: Hunk): boolean {
  return block.path === path && block.line <= line + Math.max(removed.length, 1) && block.lineEnd >= line - 1;
}

/** At the text that was replaced, or, of text that was only added, on its page. */
function isIn({ path, line, removed }: Hunk, found: Found): boolean {
  if (path !== found.page) return false;
  return removed.length === 0 || (found.line >= line && found.line < line + removed.length);
}

async function blocksOf(tree: SiteTree, repository: Repository): Promise<PageBlock[]> {
  const blocks: PageBlock[] = [];
  for (const { path } of await tree.list()) {
    if (!isPage(repository, path)) continue;
    const text = Buffer.from((await tree.read(path)) ?? "").toString();
    if (!isAboutPast(path, text)) blocks.push(...pageBlocks(path, text));
  }
  return blocks;
}
