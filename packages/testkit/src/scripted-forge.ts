import type { Forge, PullRequest } from "@emend/forges";
import { createWriteQueue, publishChange } from "@emend/publish";
import type { CommitTree, Mirror } from "@emend/tree";
import type { Pool } from "../../server/src/db/pool.ts";
import { AppError } from "../../server/src/errors.ts";
import type { CrashPoint } from "../../server/src/run/crash-points.ts";
import type { Stages } from "../../server/src/run/run.ts";
import { seededRandom } from "./seeded-random.ts";

export interface ScriptedForgeOptions {
  /** The share of responses that are lost after the request was carried out. */
  lostShare: number;
  seed: number;
}

interface PublishDeps {
  pool: Pool;
  worker: string;
  crashPoint(name: CrashPoint): void;
}

/**
 * Publishes with the real `publishChange`, to a repository and a forge that are rows of the tables `pushes` and `pulls`. The
 * forge opens a pull request for every request, and loses responses. So only Emend's own code prevents duplicates.
 */
export function scriptedPublish(deps: PublishDeps, options: ScriptedForgeOptions): Stages["publish"] {
  const writes = createWriteQueue();
  const random = seededRandom(options.seed);
  const answer = <T>(value: T): T => {
    if (random() >= options.lostShare) return value;
    throw new AppError("forge_unavailable", { publicMessage: "502 Bad Gateway", retryable: true });
  };
  return (job, work, signal) => {
    const commitId = `commit-${job.id}`;
    /** When it was sent, by the clock of the database's machine: the sender is not to blame for later delays. */
    const effect = (table: "pushes" | "pulls") =>
      deps.pool.query(`insert into ${table} (job_id, worker, at) values ($1, $2, $3)`, [
        job.id,
        deps.worker,
        new Date(),
      ]);
    const tree = {
      commit: "base",
      list: async () => [],
      read: async () => null,
      diff: async () => Buffer.alloc(0),
    } as unknown as CommitTree;
    const mirror = {
      treeAt: () => tree,
      commit: async () => ({ treeId: "tree", commitId }),
      async push() {
        await effect("pushes");
        return answer({ kind: "pushed" } as const);
      },
    } as unknown as Mirror;
    const pullRequestOf = (body: string): PullRequest => ({
      number: 1,
      url: `http://forge.test/${job.id}`,
      state: "open",
      draft: false,
      head: job.branch,
      base: "main",
      body,
    });
    const forge = {
      name: "github",
      credentialId: job.id,
      showsChecks: true,
      commits: null,
      // It opens one within the request, and only loses answers.
      effectSecondsMax: 0,
      ensureDetails: null,
      gitRemote: async () => ({ url: "http://forge.test/docs.git", authorization: null }),
      async findPullRequests() {
        const { rowCount } = await deps.pool.query("select from pulls where job_id = $1", [job.id]);
        return answer(Array.from({ length: rowCount ?? 0 }, () => pullRequestOf(`<!-- emend:job=${job.id} -->`)));
      },
      async createPullRequest(draft: { body: string }) {
        await effect("pulls");
        return answer({ kind: "created", pullRequest: pullRequestOf(draft.body) } as const);
      },
    } as unknown as Forge;
    return publishChange(
      {
        forge,
        mirror,
        store: work.recorder,
        writes,
        crashPoint: deps.crashPoint,
        warn: async () => {},
        renewForEffect: work.recorder.renewForEffect,
      },
      {
        job: {
          id: job.id,
          createdAt: job.createdAt,
          branch: job.branch,
          prompt: job.prompt,
          followUps: [],
          url: `http://emend.test/job/${job.id}`,
        },
        model: work.model,
        usage: work.usage,
        sources: [],
        base: { commit: "base", ref: work.baseBranch },
        entries: work.overlay.entries(),
        baseConflict: [],
        title: work.change.title,
        summary: work.change.summary,
        checks: work.change.verdict,
        draft: false,
        stored: work.stored,
        commit: { authorName: "Emend", authorEmail: "noreply@emend.invalid", signOff: false },
        branchExpected: null,
        createLeftMs: job.createLeftMs,
        mayRepeatCreate: true,
        continuesClosed: true,
      },
      signal,
    );
  };
}
