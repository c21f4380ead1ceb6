import { ConnectionNeeded, KnowledgeFault } from "@emend/knowledge";

import {
  addKnowledgeServer,
  allowKnowledgeTool,
  denyKnowledgeTool,
  findKnowledgeServer,
  type KnowledgeServerRow,
  listKnowledgeServers,
  programOf,
  removeKnowledgeServer,
} from "../accounts/projects/knowledge-servers.ts";
import { requireProject } from "../accounts/projects/projects.ts";
import type { Sealer } from "../accounts/secrets.ts";
import type { Config } from "../config/config.ts";
import type { Pool } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { askForConnection, readKnowledgeTools } from "../installation/knowledge-reach.ts";
import type { ProjectCheck } from "./doctor-project.ts";

interface KnowledgeDeps {
  config: Config;
  pool: Pool;
  sealer: Sealer;
}

interface ConnectDeps extends KnowledgeDeps {
  publicUrl(): Promise<string>;
}

interface Named {
  projectId: string;
  name: string;
}

/** What a server offers now, beside what was allowed. */
interface OfferedTool {
  name: string;
  description: string;
  isReadOnly: boolean;
  state: "allowed" | "not allowed" | "changed";
}

/** The administrator's commands for knowledge servers. */
export interface KnowledgeAdmin {
  add(input: Named & { url: string; credential: string | null }): Promise<{ name: string; url: string }>;
  list(projectId: string): Promise<readonly Omit<KnowledgeServerRow, "id" | "projectId">[]>;
  /** False if the project has no server of this name. */
  remove(input: Named): Promise<boolean>;
  /** Asks the server for access by OAuth. A person opens the address. `client`: as the server's owner registered it. */
  connect(input: Named & { client?: { id: string; secret: string | null } }): Promise<{ name: string; url: string }>;
  /** Asks the server. */
  offered(input: Named): Promise<readonly OfferedTool[]>;
  /** `mayWrite`: also if its server does not mark it as read-only. */
  allow(input: Named & { tool: string; mayWrite: boolean }): Promise<OfferedTool>;
  deny(input: Named & { tool: string }): Promise<boolean>;
}

const askMsMax = 60_000;

export function createKnowledgeAdmin(deps: ConnectDeps): KnowledgeAdmin {
  const { pool } = deps;

  async function read(input: Named) {
    const server = await findKnowledgeServer(pool, input);
    return { server, tools: await ask(deps, server) };
  }

  return {
    async add(input) {
      await requireProject(pool, input.projectId);
      const program = programOf(input.url);
      const { byName } = deps.config.knowledgePrograms;
      if (program !== null && !Object.hasOwn(byName, program)) {
        const known = Object.keys(byName).join(", ") || "none";
        throw refused(`EMEND_KNOWLEDGE_PROGRAMS does not name a program ${program}. It names: ${known}.`);
      }
      return addKnowledgeServer(deps, input);
    },
    async list(projectId) {
      await requireProject(pool, projectId);
      return (await listKnowledgeServers(pool, projectId)).map(({ id: _, projectId: __, ...server }) => server);
    },
    async connect({ client, ...input }) {
      const server = await findKnowledgeServer(pool, input);
      if (programOf(server.url) !== null) throw refused(`${server.name} is a local program, which needs no access.`);
      const publicUrl = await deps.publicUrl();
      const url = await inWords(server, () => askForConnection({ ...deps, publicUrl }, server, client));
      return { name: server.name, url };
    },
    remove: (input) => removeKnowledgeServer(pool, input),
    async offered(input) {
      const { server, tools } = await read(input);
      return tools.map((tool) => offer(server, tool));
    },
    async allow(input) {
      const { server, tools } = await read(input);
      const tool = tools.find(({ name }) => name === input.tool);
      if (!tool) throw refused(`${server.name} has no tool ${input.tool}.`);
      if (!tool.isReadOnly && !input.mayWrite) {
        throw refused(
          `${server.name} does not mark ${tool.name} as read-only. If it changes nothing, allow it with --not-marked.`,
        );
      }
      const { isReadOnly: _, ...pinned } = tool;
      await allowKnowledgeTool(pool, server, pinned);
      return offer({ ...server, tools: [pinned] }, tool);
    },
    async deny(input) {
      return denyKnowledgeTool(pool, await findKnowledgeServer(pool, input), input.tool);
    },
  };
}

function ask(deps: KnowledgeDeps, server: KnowledgeServerRow) {
  return inWords(server, () => readKnowledgeTools(deps, server, AbortSignal.timeout(askMsMax)));
}

async function inWords<T>({ name }: KnowledgeServerRow, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof KnowledgeFault)) throw error;
    const { message } = error;
    const connect = `emend project knowledge connect ${name}`;
    const hint = message.includes("private network")
      ? " Set EMEND_ALLOW_PRIVATE_KNOWLEDGE=true to allow that."
      : error instanceof ConnectionNeeded
        ? ` Run: ${connect}`
        : message.includes("(401)")
          ? ` If it uses OAuth: ${connect}`
          : "";
    throw new AppError("invalid_request", { publicMessage: `${name} ${message}.${hint}`, cause: error });
  }
}

type ReadTools = Awaited<ReturnType<typeof readKnowledgeTools>>;

function offer(server: Pick<KnowledgeServerRow, "tools">, tool: ReadTools[number]): OfferedTool {
  const { name, description, isReadOnly, hash } = tool;
  const allowed = server.tools.find((one) => one.name === name);
  const state = !allowed ? "not allowed" : allowed.hash === hash ? "allowed" : "changed";
  return { name, description, isReadOnly, state };
}

/** For `emend project doctor`. */
export async function checkKnowledge(deps: KnowledgeDeps, projectId: string): Promise<readonly ProjectCheck[]> {
  const servers = await listKnowledgeServers(deps.pool, projectId);
  return Promise.all(
    servers.map(async (server): Promise<ProjectCheck> => {
      const name = `knowledge ${server.name}`;
      try {
        const offered = (await ask(deps, server)).map((tool) => offer(server, tool));
        const changed = offered.filter(({ state }) => state === "changed").map((tool) => tool.name);
        const gone = server.tools.map((tool) => tool.name).filter((tool) => !offered.some((one) => one.name === tool));
        const wrong = [
          ...(changed.length > 0 ? [`changed after they were allowed: ${changed.join(", ")}`] : []),
          ...(gone.length > 0 ? [`no longer there: ${gone.join(", ")}`] : []),
        ];
        if (wrong.length > 0) return { name, verdict: "problem", words: `tools ${wrong.join("; ")}` };
        return { name, verdict: "ok", words: `answers; ${server.tools.length} of ${offered.length} tools are allowed` };
      } catch (error) {
        const words = error instanceof AppError ? error.publicMessage : "could not be asked";
        return { name, verdict: "problem", words };
      }
    }),
  );
}

function refused(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
