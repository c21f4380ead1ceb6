import {
  createKnowledgeTools,
  KnowledgeFault,
  type KnowledgeTool,
  type KnowledgeTools,
  openKnowledgeServer,
  type Place,
  startProgram,
} from "@emend/knowledge";
import { startBound } from "@emend/tree";
import { connectKnowledgeServer, finishConnection, knowledgeTokenOf } from "../accounts/projects/knowledge-grants.ts";
import {
  type KnowledgeServerRow,
  listKnowledgeServers,
  programOf,
  recordKnowledgeCall,
} from "../accounts/projects/knowledge-servers.ts";
import type { Sealer } from "../accounts/secrets.ts";
import type { Config } from "../config/config.ts";
import type { Pool } from "../db/pool.ts";
import { createGuardedFetch, type ResolveAll } from "../notify/ssrf-guard.ts";

interface ReachDeps {
  config: Pick<Config, "network" | "allowPrivateKnowledge" | "knowledgePrograms">;
  pool: Pool;
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
  return withGuard(deps, async (fetch) => {
    const connection = await openKnowledgeServer({ place: placeOf({ ...deps, fetch }, server) }, signal);
    try {
      return await connection.tools(signal);
    } finally {
      await connection.close();
    }
  });
}

/** The address that a person opens to give Emend access by OAuth. */
export function askForConnection(
  deps: ReachDeps & { publicUrl: string },
  server: KnowledgeServerRow,
  registered?: { id: string; secret: string | null },
): Promise<string> {
  return withGuard(deps, (fetch) => connectKnowledgeServer({ ...deps, fetch }, server, registered));
}

/** Takes the answer that a person's browser brought back. */
export function takeConnection(
  deps: ReachDeps & { publicUrl: string },
  answer: Parameters<typeof finishConnection>[1],
): Promise<{ name: string }> {
  return withGuard(deps, (fetch) => finishConnection({ ...deps, fetch }, answer));
}

/** A server at its address, or a program of the operator's configuration. */
function placeOf(deps: ReachDeps & { fetch: typeof fetch }, { id, url }: KnowledgeServerRow): Place {
  const name = programOf(url);
  if (name === null) return { kind: "address", url, token: knowledgeTokenOf(deps, id), fetch: deps.fetch };
  const { path, byName } = deps.config.knowledgePrograms;
  return {
    kind: "program",
    async start(onFault) {
      const program = byName[name];
      if (!program) throw new KnowledgeFault(`needs the program ${name}, which EMEND_KNOWLEDGE_PROGRAMS does not name`);
      return startProgram({ start: startBound, path }, program, onFault);
    },
  };
}

async function withGuard<T>(deps: ReachDeps, work: (guarded: typeof fetch) => Promise<T>): Promise<T> {
  const { fetch: guarded, close } = guardedFetch(deps);
  try {
    return await work(guarded);
  } finally {
    await close();
  }
}

/** The allowed tools of a project's servers, for one run of a job. Null: there are none. */
export async function openProjectKnowledge(
  deps: ReachDeps,
  job: { id: string; projectId: string },
): Promise<KnowledgeTools | null> {
  const servers = (await listKnowledgeServers(deps.pool, job.projectId)).filter(({ tools }) => tools.length > 0);
  if (servers.length === 0) return null;
  const { fetch, close } = guardedFetch(deps);
  const made = createKnowledgeTools({
    servers: servers.map((server) => ({ ...server, place: placeOf({ ...deps, fetch }, server) })),
    record: (call) => recordKnowledgeCall(deps.pool, job.projectId, { job: job.id, ...call }),
  });
  return {
    ...made,
    async close() {
      await made.close();
      await close();
    },
  };
}
