import { createHash } from "node:crypto";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createKeyedMutex } from "@emend/base/locks.ts";
import type { Fetch } from "@emend/base/network.ts";
import { type Sandbox, type StartProcess, trySandbox } from "@emend/runners";
import { type Finding, openSite, type ParseCache } from "@emend/site";
import { siteTreeOf, type Tree } from "@emend/tree";
import { forgetOld } from "./forget-old.ts";
import { aboutSite, judgeBuilds, lastLines } from "./judge.ts";
import type { BuildLimits } from "./limits.ts";
import { type BuildSettings, builderOf, type Plan, planBuild, treeKey } from "./plan.ts";
import { findLock, type LockFile, type Preparation, type Prepared, preparePackages } from "./prepare.ts";
import { type BuildEnd, runBuild } from "./run-build.ts";

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
  /** What the site's own builder says about a change: new errors and warnings, or why it says nothing. */
  judge(task: BuildTask & { head: Tree }, signal: AbortSignal): Promise<readonly Finding[]>;
  /** Builds the base. `words`: for the owner of the project. */
  tryBase(task: BuildTask, signal: AbortSignal): Promise<{ isBuilt: boolean; words: string }>;
}

const resultsMax = 200;
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
  const seats = createSeats(config.atOnceMax);
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

  type Ready = { kind: "ready"; sandbox: Sandbox; plan: Plan } | { kind: "unavailable"; words: string };

  async function getReady({ base, docsDir, settings, siteCache }: BuildTask, signal: AbortSignal): Promise<Ready> {
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
    const planned = await planBuild({ site, settings, prepared, path: config.path });
    return planned.kind === "planned" ? { kind: "ready", sandbox, plan: planned.plan } : planned;
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

  async function build(ready: Extract<Ready, { kind: "ready" }>, tree: Tree, signal: AbortSignal): Promise<BuildEnd> {
    const { plan, sandbox } = ready;
    const key = createHash("sha256")
      .update(`${plan.key} ${await treeKey(tree)}`)
      .digest("hex");
    const results = join(deps.dir, "results");
    const build = async () => {
      const kept = await readResult(results, key);
      if (kept !== null) return kept;
      const end = await runBuild({ start: deps.start, sandbox, limits: config.limits }, { tree, plan }, signal);
      if (end.kind === "ended") await keepResult(results, key, end);
      return end;
    };
    // What is known needs no seat.
    return (await readResult(results, key)) ?? alone(key, build, signal);
  }

  return {
    async judge(task, signal) {
      const ready = await getReady(task, signal);
      if (ready.kind === "unavailable") return [aboutSite("info", `the site was not built: ${ready.words}`)];
      const before = await build(ready, task.base, signal);
      const after = await build(ready, task.head, signal);
      return judgeBuilds(ready.plan.name, { tree: task.base, end: before }, { tree: task.head, end: after });
    },
    async tryBase(task, signal) {
      const ready = await getReady(task, signal);
      if (ready.kind === "unavailable") return { isBuilt: false, words: ready.words };
      const end = await build(ready, task.base, signal);
      if (end.kind === "stopped") return { isBuilt: false, words: end.words };
      return end.code === 0
        ? { isBuilt: true, words: `${ready.plan.name} builds the base branch` }
        : {
            isBuilt: false,
            words: `${ready.plan.name} refuses the base branch with code ${end.code}: ${lastLines(end.output)}`,
          };
    },
  };
}

function unavailable(words: string): { kind: "unavailable"; words: string } {
  return { kind: "unavailable", words };
}

/** A semaphore: the callers beyond the limit wait in order. */
function createSeats(max: number): { take<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> } {
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
