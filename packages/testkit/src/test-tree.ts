import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLogger } from "@emend/base/logger.ts";
import { type CommitTree, createGit, createMirrors } from "@emend/tree";
import { makeRepository, type RepositoryFile } from "./make-repository.ts";

export interface TestTrees {
  /** The files as a commit, read through a real mirror. */
  open(files: Record<string, RepositoryFile>): Promise<CommitTree>;
  close(): Promise<void>;
}

/** One temporary folder and one set of mirrors for all trees of a test file. */
export async function openTestTrees(limits: { searchMsMax?: number } = {}): Promise<TestTrees> {
  const dir = await mkdtemp(join(tmpdir(), "emend-tree-"));
  const git = createGit({ allowedProtocols: ["file"] });
  const mirrors = createMirrors({ dir: join(dir, "mirrors"), git, log: createLogger({ level: "silent" }), limits });
  let opened = 0;
  return {
    async open(files) {
      opened += 1;
      const repository = makeRepository(join(dir, `repository-${opened}.git`));
      repository.commit(files);
      const mirror = await mirrors.open(`prj_${opened}`);
      const remote = { url: repository.url, authorization: null };
      const { commit } = await mirror.fetchBase(
        { remote, jobId: "job_test", baseRef: null },
        AbortSignal.timeout(20_000),
      );
      return mirror.treeAt(commit);
    },
    async close() {
      await mirrors.close();
      await rm(dir, { recursive: true, force: true });
    },
  };
}
