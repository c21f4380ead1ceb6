import type { Gate, GateSummary, Health } from "@emend/contract";
import type { CallOptions, Connection } from "./connection.ts";
import { projectPath, segment } from "./jobs.ts";
import { parseBody, request } from "./request.ts";

/** The statuses that Emend sets on pull requests of a project's repositories. */
export interface Gates {
  /** The newest 100. */
  list(options?: CallOptions): Promise<GateSummary[]>;
  /** One status, with each place in the docs that it is about. */
  get(id: string, options?: CallOptions): Promise<Gate>;
  /** Has the pull requests checked again now. Returns the status as it is before that. */
  look(id: string, options?: CallOptions): Promise<Gate>;
}

export function gatesOf(of: (options: CallOptions) => Connection, projectId: string): Gates {
  const path = () => `${projectPath(projectId)}/gates`;
  const one = (id: string) => `${path()}/${segment("id", id, "a status's id, gat_…")}`;

  async function ask(method: "GET" | "POST", at: string, options: CallOptions): Promise<Gate> {
    const deps = of(options);
    return parseBody(deps, await request(deps, { method, path: at }, options.signal), { name: "status", is: isGate });
  }

  return {
    async list(options = {}) {
      const deps = of(options);
      const response = await request(deps, { method: "GET", path: path() }, options.signal);
      return parseBody(deps, response, { name: "list of statuses", is: isList }).gates;
    },
    get: (id, options = {}) => ask("GET", one(id), options),
    look: (id, options = {}) => ask("POST", `${one(id)}/look`, options),
  };
}

/** What the newest check of a project's site found. */
export async function getHealth(deps: Connection, projectId: string, signal?: AbortSignal): Promise<Health> {
  const response = await request(deps, { method: "GET", path: `${projectPath(projectId)}/health` }, signal);
  return parseBody(deps, response, { name: "site's health", is: isHealth });
}

function isGate(body: object): body is Gate {
  return "id" in body && "state" in body && "findings" in body;
}

function isList(body: object): body is { gates: GateSummary[] } {
  return "gates" in body && Array.isArray(body.gates);
}

function isHealth(body: object): body is Health {
  return "findings" in body && Array.isArray(body.findings) && "sources" in body;
}
