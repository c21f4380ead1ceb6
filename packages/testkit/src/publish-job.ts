import { randomUUID } from "node:crypto";
import { createLogger } from "@emend/base/logger.ts";
import type { Forge } from "@emend/forges";
import { createWriteQueue, type Publication, type PublishDeps, type PublishInput, publishChange } from "@emend/publish";
import { createMirrors, type Git } from "@emend/tree";
import type { Pool } from "../../server/src/db/pool.ts";
import { renewForEffect } from "../../server/src/jobs/run/leases.ts";
import { recordCommit, recordCreate, recordPush } from "../../server/src/jobs/run/record-change.ts";
import { recordBase } from "../../server/src/jobs/run/record-work.ts";

export interface PublishNode {
  pool: Pool;
  git: Git;
  forge: Forge;
  /** This node's folder. Each node has its own. */
  mirrorsDir: string;
}

const leaseMs = 20_000;
const { signal } = new AbortController();

/** The defaults of a project without settings. */
export const testCommit = { authorName: "Emend", authorEmail: "noreply@emend.invalid", signOff: false };

/** The change of every test job. */
export const testEntries: PublishInput["entries"] = [
  { path: "guides/start.md", mode: "100644", content: Buffer.from("# Start\n\nUse your access key.\n") },
  { path: "guides/new.md", mode: "100644", content: Buffer.from("# New\n") },
];

/** Claims the job as a worker would and publishes its change, from the state that an earlier run left. */
export async function publishTestJob(
  node: PublishNode,
  jobId: string,
  more: { deps?: (deps: PublishDeps) => Partial<PublishDeps>; input?: Partial<PublishInput> } = {},
): Promise<Publication> {
  const { pool, forge } = node;
  const lease = { jobId, token: randomUUID() };
  const { rows } = await pool.query(
    "update jobs set lease = $2, lease_until = clock_timestamp() + interval '20 s' where id = $1 returning *",
    [jobId, lease.token],
  );
  const [row] = rows;
  const mirrors = createMirrors({ dir: node.mirrorsDir, git: node.git, log: createLogger({ level: "silent" }) });
  try {
    const mirror = await mirrors.open(row.project_id);
    const remote = await forge.gitRemote(signal);
    if (row.base_commit) await mirror.ensureBase({ remote, jobId, commit: row.base_commit }, signal);
    const base = row.base_commit
      ? { commit: row.base_commit, ref: row.base_branch }
      : await mirror.fetchBase({ remote, jobId, baseRef: null }, signal);
    await recordBase(pool, lease, { commit: base.commit, branch: base.ref });
    const deps: PublishDeps = {
      forge,
      mirror,
      store: {
        saveCommit: (ids) => recordCommit(pool, lease, ids),
        savePush: () => recordPush(pool, lease),
        saveCreate: (effectMs) => recordCreate(pool, lease, effectMs),
      },
      writes: createWriteQueue(),
      crashPoint: () => {},
      warn: async () => {},
      renewForEffect: () => renewForEffect(pool, lease, leaseMs),
    };
    const input: PublishInput = {
      job: {
        id: jobId,
        createdAt: row.created_at,
        branch: row.branch,
        prompt: row.prompt,
        followUps: [],
        url: `https://emend.test/job/${jobId}`,
      },
      usage: { steps: 1, inputTokens: 0, outputTokens: 0, cachedInputTokens: 0, costUsd: 0 },
      sources: [],
      model: row.model,
      base,
      entries: testEntries,
      baseConflict: [],
      title: 'Replace "API token" with "access key"',
      summary: "Replaced the term on 1 page and added a page.",
      checks: { introduced: [], fixed: [], findingsBefore: 2, findingsAfter: 2 },
      draft: false,
      commit: testCommit,
      stored: row.commit_id ? { treeId: row.tree_id, commitId: row.commit_id } : null,
      branchExpected: null,
      createLeftMs: row.create_until ? row.create_until.getTime() - Date.now() : null,
      mayRepeatCreate: true,
      continuesClosed: true,
    };
    return await publishChange({ ...deps, ...more.deps?.(deps) }, { ...input, ...more.input }, signal);
  } finally {
    await mirrors.close();
  }
}
