import { mkdir, readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "@emend/base/logger.ts";
import { TreeFault } from "../faults.ts";
import type { Git } from "../git/git.ts";
import { createBlobCache } from "../read/blob-reader.ts";
import { createIndexCache } from "../read/list-tree.ts";
import { collectMirror, evictMirror, lastUseOf, measureMirror } from "./maintain-mirror.ts";
import type { Mirrors } from "./mirror.ts";
import { type MirrorContext, type MirrorLimits, mirrorPlace, projectOfMirror } from "./mirror-context.ts";
import { type OpenMirror, openMirror } from "./open-mirror.ts";

const mebibyte = 2 ** 20;
const defaults: MirrorLimits = {
  mirrorsBytesMax: 20 * 1024 * mebibyte,
  packBytesMax: 4 * 1024 * mebibyte,
  fileBytesMax: 16 * mebibyte,
  filesMax: 200_000,
  fetchMsMax: 15 * 60_000,
  searchMsMax: 20_000,
  cacheBytesMax: 64 * mebibyte,
  listedFilesMax: 400_000,
  looseObjectsMax: 2_000,
  packsMax: 20,
};
/** The age at which temporary folders of killed processes are removed. */
const abandonedAfterMs = 60 * 60_000;

/** The mirrors of this node, in one folder, which several processes of one machine may share. */
export function createMirrors(options: {
  dir: string;
  git: Git;
  log: Logger;
  limits?: Partial<MirrorLimits>;
}): Mirrors {
  const { dir, log } = options;
  const { git, settled } = trackRuns(options.git);
  const limits = { ...defaults, ...options.limits };
  const cache = createBlobCache(limits.cacheBytesMax);
  const indexes = createIndexCache(limits.listedFilesMax);
  const opened = new Map<string, OpenMirror>();
  const closing = new AbortController();

  function opening(projectId: string): OpenMirror {
    if (closing.signal.aborted) {
      throw new TreeFault("internal", { publicMessage: "The mirrors are closed.", retryable: true });
    }
    const known = opened.get(projectId);
    if (known) return known;
    const place = mirrorPlace(dir, projectId);
    const fresh = openMirror({ git, place, log, limits, cache, indexes, closing: closing.signal });
    opened.set(projectId, fresh);
    return fresh;
  }

  async function projects(): Promise<readonly string[]> {
    const names = await readdir(dir).catch(() => []);
    return names.map(projectOfMirror).filter((id) => id !== null);
  }

  return {
    async open(projectId) {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      return opening(projectId).mirror;
    },
    projects,
    async maintain(signal, unwanted) {
      const until = AbortSignal.any([signal, closing.signal]);
      await removeAbandoned(dir);
      const done = { collected: 0, removed: 0, bytes: 0 };
      const measured = [];
      for (const projectId of await projects()) {
        const { context } = opening(projectId);
        const isUnwanted = async ({ projects: gone, usedBeforeMs }: NonNullable<typeof unwanted>) =>
          gone.has(projectId) || (await lastUseOf(context)) < usedBeforeMs;
        if (unwanted && (await isUnwanted(unwanted)) && (await evictMirror(context, until))) {
          done.removed += 1;
          continue;
        }
        if (await collected(context, until)) done.collected += 1;
        measured.push({ context, ...(await measureMirror(context)) });
      }
      done.bytes = measured.reduce((sum, { bytes }) => sum + bytes, 0);
      for (const { context, bytes } of measured.sort((left, right) => left.usedAtMs - right.usedAtMs)) {
        if (done.bytes <= limits.mirrorsBytesMax) break;
        if (!(await evictMirror(context, until))) continue;
        done.removed += 1;
        done.bytes -= bytes;
      }
      return done;
    },
    async close() {
      closing.abort(new TreeFault("internal", { publicMessage: "The mirrors are closed.", retryable: true }));
      await Promise.all([...opened.values()].map((mirror) => mirror.close()));
      await settled();
    },
  };
}

/** A mirror that cannot be collected must not block the others. Its next fetch repairs it. */
async function collected(context: MirrorContext, signal: AbortSignal): Promise<boolean> {
  try {
    return await collectMirror(context, signal);
  } catch (error) {
    signal.throwIfAborted();
    context.log.warn({ err: error, gitDir: context.place.gitDir }, "could not garbage-collect a mirror");
    context.health.suspect = true;
    return false;
  }
}

/** Tracks processes, so that none outlives `close`. */
function trackRuns(git: Git): { git: Git; settled(): Promise<void> } {
  const running = new Set<Promise<unknown>>();
  function track<T>(run: Promise<T>): Promise<T> {
    const ended: Promise<unknown> = run.then(
      () => running.delete(ended),
      () => running.delete(ended),
    );
    running.add(ended);
    return run;
  }
  return {
    git: {
      ...git,
      run: (command, signal) => track(git.run(command, signal)),
      must: (command, signal) => track(git.must(command, signal)),
    },
    async settled() {
      while (running.size > 0) await Promise.all(running);
    },
  };
}

async function removeAbandoned(dir: string): Promise<void> {
  for (const name of await readdir(dir).catch(() => [])) {
    if (!/\.git\.(new|gone)-[0-9a-f]{12}$/.test(name)) continue;
    const path = join(dir, name);
    const found = await stat(path).catch(() => null);
    if (found && found.ctimeMs < Date.now() - abandonedAfterMs) await rm(path, { recursive: true, force: true });
  }
}
