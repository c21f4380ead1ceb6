import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import {
  type CommitTree,
  createGit,
  createMirrors,
  createOverlay,
  type Git,
  type Mirror,
  type Mirrors,
  type Overlay,
} from "@emend/tree";
import type { MirrorLimits } from "../../tree/src/mirror/mirror-context.ts";
import { makeRepository, type RepositoryFile, type TestRepository } from "./make-repository.ts";

export interface MirrorBench {
  /** Its own folder, removed by `close`. */
  dir: string;
  mirrorsDir: string;
  git: Git;
  mirrors: Mirrors;
  signal: AbortSignal;
  /** A second process, from the mirrors' point of view. */
  openMirrors(limits?: Partial<MirrorLimits>): Mirrors;
  /** A bare repository in `dir/remotes`. */
  repository(name?: string, options?: { branch?: string; objectFormat?: "sha1" | "sha256" }): TestRepository;
  /** These files as a tree at a commit, with an overlay on top. */
  tree(files: Record<string, RepositoryFile>): Promise<TestTree>;
  close(): Promise<void>;
}

export interface TestTree {
  tree: CommitTree;
  overlay: Overlay;
  commit: string;
  mirror: Mirror;
  gitDir: string;
  repository: TestRepository;
}

/** Real mirrors of real repositories in a temporary folder. */
export function openMirrorBench(limits?: Partial<MirrorLimits>): MirrorBench {
  const dir = mkdtempSync(join(tmpdir(), "emend-tree-"));
  const mirrorsDir = join(dir, "mirrors");
  const git = createGit({ allowedProtocols: ["file", "http"] });
  const log = createLogger({ level: "silent" });
  const all: Mirrors[] = [];
  const signal = new AbortController().signal;
  let trees = 0;

  function openMirrors(more?: Partial<MirrorLimits>): Mirrors {
    const mirrors = createMirrors({ dir: mirrorsDir, git, log, limits: { ...limits, ...more } });
    all.push(mirrors);
    return mirrors;
  }
  const mirrors = openMirrors();
  const repository: MirrorBench["repository"] = (name = "docs", options) =>
    makeRepository(join(dir, "remotes", `${name}.git`), options);

  return {
    dir,
    mirrorsDir,
    git,
    mirrors,
    signal,
    openMirrors,
    repository,
    async tree(files) {
      trees += 1;
      const source = repository(`tree-${trees}`);
      const commit = source.commit(files);
      const mirror = await mirrors.open(`prj_tree${trees}`);
      const remote = { url: source.url, authorization: null };
      await mirror.fetchBase({ remote, jobId: "job_tree", baseRef: null }, signal);
      const tree = mirror.treeAt(commit);
      const gitDir = join(mirrorsDir, `prj_tree${trees}.git`);
      return { tree, overlay: await createOverlay(tree), commit, mirror, gitDir, repository: source };
    },
    async close() {
      await Promise.all(all.map((opened) => opened.close()));
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
