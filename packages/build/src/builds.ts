import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKeyedMutex } from "@emend/base/locks.ts";
import type { Fetch } from "@emend/base/network.ts";
import { type Sandbox, type StartProcess, trySandbox } from "@emend/runners";
import {
  type Finding,
  openSite,
  type ParseCache,
  pagesOfPictures,
  readScreenshots,
  type Site,
  screenshotsFile,
} from "@emend/site";
import { readOrSkip, siteTreeOf, type Tree } from "@emend/tree";
import { forgetOld } from "./forget-old.ts";
import { aboutSite, judgeBuilds, lastLines } from "./judge.ts";
import type { BuildLimits } from "./limits.ts";
import { type BuildSettings, builderOf, type Plan, planBuild, treeKey } from "./plan.ts";
import { findLock, type LockFile, type Preparation, type Prepared, preparePackages } from "./prepare.ts";
import { type BuildEnd, runBuild } from "./run-build.ts";
import { judgeSamples } from "./samples.ts";
import { type TakenScreenshot, takeScreenshots } from "./screenshots.ts";
import { findChromium, type PagePicture, type PageToPicture, takePictures } from "./take-pictures.ts";
import { findingsOfWatch, watchChange } from "./watch-change.ts";

/** The operator's settings. */
export interface BuildsConfig {
  /** Builds at once in this process. 0: nothing is built here. */
  atOnceMax: number;
  limits: BuildLimits;
  /** Where packages come from. */
  registry: string;
  /** The search path for builders. */
  path: string;
}

interface BuildTask {
  base: Tree;
  docsDir: string;
  settings: BuildSettings;
  siteCache?: ParseCache;
}

/** Builds sites, a few at once, and remembers results by what was built. */
export interface Builds {
  /**
   * What the site's own builder says about a change: new errors and warnings, or why it says nothing. And what a browser
   * finds on the built pages that no page of the base has, and what the samples of changed pages do.
   */
  judge(
    task: BuildTask & {
      head: Tree;
      paths: readonly string[];
      /** Domains that a change may be the first to name. */
      isAllowedHost(host: string): boolean;
    },
    signal: AbortSignal,
  ): Promise<readonly Finding[]>;
  /** Changed pages as readers see them, on both sides. Null: the site, or Chromium, is not there. */
  takePictures(
    task: BuildTask & { head: Tree; paths: readonly string[]; pagesMax: number },
    signal: AbortSignal,
  ): Promise<readonly PagePicture[] | null>;
  /** Makes the screenshots again that the base declares, with the files of a change. `string`: why none can be made. */
  takeScreenshots(task: BuildTask & { head: Tree }, signal: AbortSignal): Promise<readonly TakenScreenshot[] | string>;
  /** Builds the base. `words`: for the owner of the project. */
  tryBase(task: BuildTask, signal: AbortSignal): Promise<{ isBuilt: boolean; words: string }>;
}

type Ready = { kind: "ready"; sandbox: Sandbox; plan: Plan; site: Site } | { kind: "unavailable"; words: string };

interface Built {
  end: BuildEnd;
  /** The built site. Empty: the builder wrote none, or one that is too large. */
  siteFile: string;
}

const resultsMax = 200;
/** Built sites, of up to 192 MiB each. */
const sitesMax = 8;
const outputCharactersMax = 1_000_000;
const failedForMs = 10 * 60_000;

export function createBuilds(deps: {
  start: StartProcess;
  fetch: Fetch;
  config: BuildsConfig;
  /** Keeps packages and results. */
  dir: string;
}): Builds {
  const { config } = deps;
  const seats = createKeyedSemaphore(config.atOnceMax);
  const mutex = createKeyedMutex({ waitingMax: Number.POSITIVE_INFINITY });
  /** An installation that failed is not tried again at once. */
  const failed = new Map<string, { words: string; at: number }>();
  let trial: ReturnType<typeof trySandbox> | undefined;

  /** One piece of work for a key at a time: whoever comes later finds its result. */
  function alone<T>(key: string, work: () => Promise<T>, signal: AbortSignal): Promise<T> {
    const turn = mutex.run(key, async () => {
      signal.throwIfAborted();
      return seats.take(work, signal);
    });
    if (turn === null) throw new Error("the line of builds is full");
    return turn;
  }

  type Unavailable = { kind: "unavailable"; words: string };
  type Ready = { kind: "ready"; sandbox: Sandbox; plan: Plan; site: Site };
  type Equipped = { kind: "equipped"; sandbox: Sandbox; site: Site; prepared: Prepared | null };

  async function getReady(task: BuildTask, signal: AbortSignal): Promise<Ready | Unavailable> {
    const equipped = await equip(task, signal);
    return equipped.kind === "equipped" ? planFor(equipped, task.settings) : equipped;
  }

  async function planFor(equipped: Equipped, settings: BuildSettings): Promise<Ready | Unavailable> {
    const { sandbox, site, prepared } = equipped;
    const planned = await planBuild({ site, settings, prepared, path: config.path });
    return planned.kind === "planned" ? { kind: "ready", sandbox, plan: planned.plan, site } : planned;
  }

  /** The sandbox, and the packages that the settings want in it. */
  async function equip(
    { base, docsDir, settings, siteCache }: BuildTask,
    signal: AbortSignal,
  ): Promise<Equipped | Unavailable> {
    if (config.atOnceMax === 0) return unavailable("this server builds nothing: EMEND_BUILDS_AT_ONCE is 0");
    trial ??= trySandbox(deps.start, config.path);
    const sandbox = await trial;
    // It may be installed while the server runs.
    if (sandbox.kind === "unusable") trial = undefined;
    if (sandbox.kind === "unusable") return unavailable(`builds need a sandbox, and ${sandbox.words}`);
    const site = await openSite(siteTreeOf(base), { docsDir, signal, ...(siteCache && { cache: siteCache }) });
    let prepared: Prepared | null = null;
    if (settings.packages !== "none") {
      const lock = await findLock(base, builderOf(site)?.folder ?? docsDir);
      if (lock !== null && "words" in lock) return unavailable(lock.words);
      if (lock !== null) {
        const answer = await install(sandbox, base, lock, settings.packages === "install_with_scripts", signal);
        if (answer.kind === "failed") {
          return unavailable(`the packages of ${lock.path} could not be installed: ${answer.words}`);
        }
        prepared = answer.prepared;
      }
    }
    return { kind: "equipped", sandbox, site, prepared };
  }

  async function install(
    sandbox: Sandbox,
    tree: Tree,
    lock: LockFile,
    withScripts: boolean,
    signal: AbortSignal,
  ): Promise<Preparation> {
    const key = `${lock.path} ${lock.oid} ${withScripts}`;
    const known = failed.get(key);
    if (known && performance.now() - known.at < failedForMs) return { kind: "failed", words: known.words };
    const own = { ...deps, ...config, sandbox, dir: join(deps.dir, "packages") };
    const answer = await alone(key, () => preparePackages(own, { tree, lock, withScripts }, signal), signal);
    if (answer.kind === "failed") failed.set(key, { words: answer.words, at: performance.now() });
    return answer;
  }

  async function build(
    ready: Extract<Ready, { kind: "ready" }>,
    tree: Tree,
    signal: AbortSignal,
    wants: "words" | "site" = "words",
  ): Promise<Built> {
    const { plan, sandbox } = ready;
    const key = createHash("sha256")
      .update(`${plan.key} ${await treeKey(tree)}`)
      .digest("hex");
    const results = join(deps.dir, "results");
    const siteFile = join(deps.dir, "sites", key);
    const known = async () => {
      const end = await readResult(results, key);
      if (end === null) return null;
      // A site is kept for a shorter time than what was said of it.
      const isThere = wants === "words" || (await stat(siteFile).catch(() => null)) !== null;
      return isThere ? { end, siteFile } : null;
    };
    const build = async () => {
      const kept = await known();
      if (kept !== null) return kept;
      await mkdir(join(deps.dir, "sites"), { recursive: true });
      const part = `${siteFile}.${process.pid}.part`;
      try {
        const own = { start: deps.start, sandbox, limits: config.limits };
        const end = await runBuild(own, { tree, plan, siteFile: part }, signal);
        if (end.kind === "ended") {
          await keepResult(results, key, end);
          await rename(part, siteFile);
          await forgetOld(join(deps.dir, "sites"), sitesMax);
        }
        return { end, siteFile };
      } finally {
        await rm(part, { force: true });
      }
    };
    // What is known needs no seat.
    return (await known()) ?? alone(key, build, signal);
  }

  type ChangeTask = Parameters<Builds["judge"]>[0];

  async function judgeBuilder(equipped: Equipped, task: ChangeTask, signal: AbortSignal): Promise<readonly Finding[]> {
    const ready = await planFor(equipped, task.settings);
    if (ready.kind === "unavailable") return [aboutSite("info", `the site was not built: ${ready.words}`)];
    const chromium = ready.plan.site === null ? null : await findChromium(config.path);
    const wants = chromium === null ? "words" : "site";
    const before = await build(ready, task.base, signal, wants);
    const after = await build(ready, task.head, signal, wants);
    const said = await judgeBuilds(
      ready.plan.name,
      { tree: task.base, end: before.end },
      { tree: task.head, end: after.end },
    );
    const files = await sitesOf(before, after);
    const areBuilt = [before.end, after.end].every((end) => end.kind === "ended" && end.code === 0);
    if (chromium === null || !areBuilt) return said;
    if (files === null) {
      const why = ready.plan.noSite ?? "there are none, or too many";
      return [...said, aboutSite("info", `the built pages were not compared: ${why}`)];
    }
    const { docsDir, isAllowedHost } = task;
    const pages = await pagesOf(ready, task, signal);
    const isOfDocs = (path: string) => docsDir === "" || path.startsWith(`${docsDir}/`);
    const blobs = (await task.head.list()).flatMap(({ path, oid }) => (isOfDocs(path) ? [oid] : []));
    const own = { start: deps.start, sandbox: ready.sandbox, limits: config.limits, chromium };
    const compared = { ...files, base: ready.site.model.basePath, pages, blobs };
    const watched = await seats.take(() => watchChange(own, compared, signal), signal);
    const texts = await Promise.all(task.paths.map((path) => readOrSkip(task.head, path)));
    return [...findingsOfWatch(watched, { isAllowedHost, changed: texts.join("\n") }), ...said];
  }

  async function runSamples(
    { sandbox, site, prepared }: Equipped,
    task: ChangeTask,
    signal: AbortSignal,
  ): Promise<readonly Finding[]> {
    if (task.settings.samples.length === 0) return [];
    const cache = task.siteCache && { cache: task.siteCache };
    const head = await openSite(siteTreeOf(task.head), { docsDir: task.docsDir, signal, ...cache });
    const own = { start: deps.start, sandbox, limits: config.limits };
    const plan = { mounts: prepared?.mounts ?? [], packageFolders: prepared?.folders ?? [] };
    const { settings, base, paths } = task;
    const work = { base: site, head, tree: task.head, paths, plan, settings, commit: base.commit };
    return seats.take(() => judgeSamples(own, work, signal), signal);
  }

  /** The built site of a change. `string`: why there is none. */
  async function siteOf(equipped: Equipped, task: BuildTask & { head: Tree }, signal: AbortSignal) {
    const ready = await planFor(equipped, task.settings);
    if (ready.kind === "unavailable") return `the site was not built: ${ready.words}`;
    const { siteFile } = await build(ready, task.head, signal, "site");
    const size = (await stat(siteFile).catch(() => null))?.size ?? 0;
    return size === 0 ? "the site does not build" : { file: siteFile, base: ready.site.model.basePath };
  }

  return {
    async judge(task, signal) {
      const equipped = await equip(task, signal);
      if (equipped.kind === "unavailable") return [aboutSite("info", `the site was not built: ${equipped.words}`)];
      return [...(await judgeBuilder(equipped, task, signal)), ...(await runSamples(equipped, task, signal))];
    },
    async takePictures(task, signal) {
      const chromium = await findChromium(config.path);
      if (chromium === null) return null;
      const ready = await getReady(task, signal);
      if (ready.kind === "unavailable" || ready.plan.site === null) return null;
      const before = await build(ready, task.base, signal, "site");
      const after = await build(ready, task.head, signal, "site");
      const pages = (await pagesOf(ready, task, signal)).slice(0, task.pagesMax);
      const files = await sitesOf(before, after);
      if (pages.length === 0 || files === null) return null;
      const own = { start: deps.start, sandbox: ready.sandbox, limits: config.limits, chromium };
      const { basePath: base } = ready.site.model;
      return seats.take(() => takePictures(own, { ...files, base, pages }, signal), signal);
    },
    async takeScreenshots(task, signal) {
      const declared = await readScreenshots(task.base);
      if (declared.kind === "none") return `the base branch has no ${screenshotsFile}, which says how they are made`;
      if (declared.kind === "wrong") return `${screenshotsFile} cannot be read: ${declared.problem}`;
      const chromium = await findChromium(config.path);
      if (chromium === null) return "Chromium is not installed on this server";
      const equipped = await equip(task, signal);
      if (equipped.kind === "unavailable") return equipped.words;
      const { sandbox, prepared } = equipped;
      const screenshots = declared.list;
      const showsSite = screenshots.some(({ open }) => open.startsWith("/"));
      const site = showsSite ? await siteOf(equipped, task, signal) : "";
      const own = { start: deps.start, sandbox, limits: config.limits, chromium };
      const plan = { mounts: prepared?.mounts ?? [], packageFolders: prepared?.folders ?? [] };
      const work = { tree: task.head, plan, service: task.settings.service, site, screenshots };
      return seats.take(() => takeScreenshots(own, work, signal), signal);
    },
    async tryBase(task, signal) {
      const ready = await getReady(task, signal);
      if (ready.kind === "unavailable") return { isBuilt: false, words: ready.words };
      const { end, siteFile } = await build(ready, task.base, signal, ready.plan.noSite ? "site" : "words");
      if (end.kind === "stopped") return { isBuilt: false, words: end.words };
      const isEmpty = end.code === 0 && (await stat(siteFile).catch(() => null))?.size === 0;
      const noSite = isEmpty && ready.plan.noSite ? `. ${ready.plan.noSite}` : "";
      const hasPictures = ready.plan.site === null || (await findChromium(config.path)) !== null;
      const without = hasPictures
        ? ""
        : ". Without Chromium on this server, jobs have no pictures of pages, and no browser compares what is built";
      return end.code === 0
        ? { isBuilt: true, words: `${ready.plan.name} builds the base branch${without}${noSite}` }
        : {
            isBuilt: false,
            words: `${ready.plan.name} refuses the base branch with code ${end.code}: ${lastLines(end.output)}`,
          };
    },
  };
}

/** The files of two built sites. Null: without both there is nothing to compare. */
async function sitesOf(before: Built, after: Built): Promise<{ before: string; after: string } | null> {
  const files = { before: before.siteFile, after: after.siteFile };
  const sizes = await Promise.all([stat(files.before), stat(files.after)]).catch(() => null);
  return sizes?.every(({ size }) => size > 0) ? files : null;
}

async function pagesOf(
  { site, plan }: Extract<Ready, { kind: "ready" }>,
  { head, docsDir, siteCache, paths }: BuildTask & { head: Tree; paths: readonly string[] },
  signal: AbortSignal,
): Promise<readonly PageToPicture[]> {
  const after = await openSite(siteTreeOf(head), { docsDir, signal, ...(siteCache && { cache: siteCache }) });
  const showing = pagesOfPictures(after.index);
  const pages = new Set(paths.flatMap((path) => [path, ...(showing.get(path) ?? [])]));
  return pagesToPicture({ before: site, after, plan }, [...pages]);
}

/** Where both built sites have the changed pages. Sites whose pages Emend does not read keep their files' names. */
function pagesToPicture(
  sites: { before: Site; after: Site; plan: Pick<Plan, "folder" | "isHashed"> },
  paths: readonly string[],
): readonly PageToPicture[] {
  const { before, after } = sites;
  const { folder, isHashed } = sites.plan;
  const addressIn = (site: Site, path: string): string | null => {
    if (!site.index.files.has(path)) return null;
    const page = site.pages.find((one) => one.path === path);
    if (page) return `${isHashed ? "/#/" : "/"}${page.route.replace(/^\//, "")}`;
    const isBelow = folder === "" || path.startsWith(`${folder}/`);
    const name = isBelow ? path.slice(folder === "" ? 0 : folder.length + 1) : path;
    return /\.(?:rst|adoc|asciidoc)$/.test(name) ? `/${name.replace(/\.\w+$/, ".html")}` : null;
  };
  return paths
    .map((path) => ({ path, before: addressIn(before, path), after: addressIn(after, path) }))
    .filter((page) => page.before !== null || page.after !== null);
}

function unavailable(words: string): { kind: "unavailable"; words: string } {
  return { kind: "unavailable", words };
}

/** A semaphore: the callers beyond the limit wait in order. */
function createKeyedSemaphore(max: number): { take<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> } {
  const waiting: (() => void)[] = [];
  let taken = 0;
  function wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener("abort", leave);
        resolve();
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(go), 1);
        reject(signal.reason);
      };
      waiting.push(go);
      signal.addEventListener("abort", leave, { once: true });
    });
  }
  return {
    async take(work, signal) {
      if (taken >= max) await wait(signal);
      else taken += 1;
      try {
        return await work();
      } finally {
        // The seat goes to the next one, or becomes free.
        const next = waiting.shift();
        if (next) next();
        else taken -= 1;
      }
    },
  };
}

async function readResult(dir: string, key: string): Promise<BuildEnd | null> {
  const text = await readFile(join(dir, `${key}.json`), "utf8").catch(() => null);
  return text === null ? null : (JSON.parse(text) as BuildEnd);
}

async function keepResult(dir: string, key: string, end: Extract<BuildEnd, { kind: "ended" }>): Promise<void> {
  await mkdir(dir, { recursive: true });
  // Errors are at the end of what a builder prints.
  const kept = { ...end, output: end.output.slice(-outputCharactersMax) };
  const part = join(dir, `${key}.${process.pid}.part`);
  await writeFile(part, JSON.stringify(kept));
  await rename(part, join(dir, `${key}.json`));
  await forgetOld(dir, resultsMax);
}
