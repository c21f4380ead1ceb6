import { createKnowledgeTools, type KnowledgeTool, type KnowledgeTools, openKnowledgeServer } from "@emend/knowledge";
import {
  type KnowledgeServerRow,
  listKnowledgeServers,
  openKnowledgeCredential,
  recordKnowledgeCall,
} from "../accounts/projects/knowledge-servers.ts";
import type { Sealer } from "../accounts/secrets.ts";
import type { Config } from "../config/config.ts";
import type { Queryable } from "../db/pool.ts";
import { createGuardedFetch, type ResolveAll } from "../notify/ssrf-guard.ts";

interface ReachDeps {
  config: Pick<Config, "network" | "allowPrivateKnowledge">;
  db: Queryable;
  sealer: Sealer;
  /** For tests. */
  resolve?: ResolveAll;
}

const guardedFetch = ({ config, resolve }: ReachDeps) =>
  createGuardedFetch(config.network, { allowPrivate: config.allowPrivateKnowledge, resolve });

/** The tools that a server offers now. */
export async function readKnowledgeTools(
  deps: ReachDeps,
  server: KnowledgeServerRow,
  signal: AbortSignal,
): Promise<readonly KnowledgeTool[]> {
  const { fetch, close } = guardedFetch(deps);
  try {
    const token = await openKnowledgeCredential(deps, server.id);
    const connection = await openKnowledgeServer({ url: server.url, token, fetch }, signal);
    try {
      return await connection.tools(signal);
    } finally {
      await connection.close();
    }
  } finally {
    await close();
  }
}

/** The allowed tools of a project's servers, for one run of a job. Null: there are none. */
export async function openProjectKnowledge(
  deps: ReachDeps,
  job: { id: string; projectId: string },
): Promise<KnowledgeTools | null> {
  const servers = (await listKnowledgeServers(deps.db, job.projectId)).filter(({ tools }) => tools.length > 0);
  if (servers.length === 0) return null;
  const { fetch, close } = guardedFetch(deps);
  const made = createKnowledgeTools({
    servers: servers.map(({ id, ...server }) => ({ ...server, token: () => openKnowledgeCredential(deps, id) })),
    fetch,
    record: (call) => recordKnowledgeCall(deps.db, job.projectId, { job: job.id, ...call }),
  });
  return {
    ...made,
    async close() {
      await made.close();
      await close();
    },
  };
}
