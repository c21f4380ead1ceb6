import type { Pool, Queryable } from "../../db/pool.ts";
import { type Actor, consoleActor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import { newId } from "../../lib/id.ts";
import type { Sealer } from "../secrets.ts";

/** A server of the Model Context Protocol that a project's jobs may ask. */
export interface KnowledgeServerRow {
  id: string;
  projectId: string;
  name: string;
  url: string;
  /** How Emend gets in. */
  access: "none" | "token" | "oauth";
  tools: readonly AllowedTool[];
}

/** A tool as it was when it was allowed. */
interface AllowedTool {
  name: string;
  description: string;
  inputSchema: Record<string, unknown>;
  hash: string;
}

interface Named {
  projectId: string;
  name: string;
}

const serversMax = 10;
const toolsMax = 20;
/** The first part of a tool's name, which some vendors limit to 64 characters. */
const plainName = /^[a-z][a-z0-9-]{0,19}$/;
const callableName = /^[A-Za-z0-9_-]{1,40}$/;

export function knowledgeCredentialContext(id: string): string {
  return `knowledge/${id}/credential`;
}

/** At most ten per project, counted under the project's lock. */
export async function addKnowledgeServer(
  deps: { pool: Pool; sealer: Sealer },
  input: Named & { url: string; credential: string | null },
  by: Actor = consoleActor,
): Promise<{ name: string; url: string }> {
  const { projectId, name } = input;
  if (!plainName.test(name)) {
    throw refused("A server's name must begin with a small letter and have 1 to 20 small letters, digits or dashes.");
  }
  const url = normalUrl(input.url);
  const id = newId("kno");
  return inTransactionAs(deps.pool, by, async (client) => {
    const project = await client.query("select 1 from projects where id = $1 for update", [projectId]);
    if (project.rowCount === 0) throw new AppError("not_found", { publicMessage: `project not found: ${projectId}` });
    const known = await client.query<{ name: string }>("select name from knowledge_servers where project_id = $1", [
      projectId,
    ]);
    if (known.rows.some((one) => one.name === name)) throw conflict(`This project already has a server named ${name}.`);
    if (known.rows.length >= serversMax) throw conflict(`A project has at most ${serversMax} knowledge servers.`);
    const sealed =
      input.credential === null ? null : deps.sealer.seal(input.credential, knowledgeCredentialContext(id));
    await client.query(
      "insert into knowledge_servers (id, project_id, name, url, credential) values ($1, $2, $3, $4, $5)",
      [id, projectId, name, url, sealed],
    );
    await audit(client, "knowledge.added", projectId, { server: name, url });
    return { name, url };
  });
}

/** The name in `program:name`: a program of the operator's configuration. Null for an address. */
export function programOf(url: string): string | null {
  return /^program:([a-z][a-z0-9-]{0,39})$/.exec(url)?.[1] ?? null;
}

function normalUrl(given: string): string {
  if (programOf(given) !== null) return given;
  const url = URL.parse(given);
  if (!url || !/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) {
    throw refused("The URL must be an http or https URL without credentials or a fragment.");
  }
  return url.href;
}

/** A project's servers with their allowed tools, by name. */
export async function listKnowledgeServers(db: Queryable, projectId: string): Promise<readonly KnowledgeServerRow[]> {
  const { rows } = await db.query<KnowledgeServerRow>(
    `select id, project_id as "projectId", servers.name, url,
       case when oauth is not null then 'oauth' when credential is not null then 'token' else 'none' end as access,
       coalesce((select jsonb_agg(jsonb_build_object('name', tools.name, 'description', description,
         'inputSchema', input_schema, 'hash', hash) order by tools.name)
         from knowledge_tools tools where server_id = servers.id), '[]') as tools
     from knowledge_servers servers where project_id = $1 order by servers.name`,
    [projectId],
  );
  return rows;
}

export async function findKnowledgeServer(db: Queryable, { projectId, name }: Named): Promise<KnowledgeServerRow> {
  const found = (await listKnowledgeServers(db, projectId)).find((one) => one.name === name);
  if (!found) throw new AppError("not_found", { publicMessage: `The project has no knowledge server ${name}.` });
  return found;
}

/** Pins a tool as it is now. Allowing it again replaces what was allowed before. */
export async function allowKnowledgeTool(
  pool: Pool,
  server: KnowledgeServerRow,
  tool: AllowedTool,
  by: Actor = consoleActor,
): Promise<void> {
  if (!callableName.test(tool.name)) {
    throw refused(
      `Models cannot call a tool of this name. It must have 1 to 40 letters, digits, dashes or underscores.`,
    );
  }
  const others = server.tools.filter(({ name }) => name !== tool.name);
  if (others.length >= toolsMax) throw conflict(`A server has at most ${toolsMax} allowed tools.`);
  await inTransactionAs(pool, by, async (client) => {
    await client.query(
      `insert into knowledge_tools (server_id, name, description, input_schema, hash) values ($1, $2, $3, $4, $5)
       on conflict (server_id, name) do update set description = excluded.description,
         input_schema = excluded.input_schema, hash = excluded.hash, allowed_at = now()`,
      [server.id, tool.name, tool.description, JSON.stringify(tool.inputSchema), tool.hash],
    );
    const about = { server: server.name, tool: tool.name, hash: tool.hash };
    await audit(client, "knowledge.allowed", server.projectId, about);
  });
}

/** False if the tool was not allowed. */
export async function denyKnowledgeTool(
  pool: Pool,
  server: KnowledgeServerRow,
  tool: string,
  by: Actor = consoleActor,
): Promise<boolean> {
  return inTransactionAs(pool, by, async (client) => {
    const gone = await client.query("delete from knowledge_tools where server_id = $1 and name = $2", [
      server.id,
      tool,
    ]);
    if (gone.rowCount === 0) return false;
    await audit(client, "knowledge.denied", server.projectId, { server: server.name, tool });
    return true;
  });
}

/** False if the project has no server of this name. */
export async function removeKnowledgeServer(
  pool: Pool,
  { projectId, name }: Named,
  by: Actor = consoleActor,
): Promise<boolean> {
  return inTransactionAs(pool, by, async (client) => {
    const gone = await client.query("delete from knowledge_servers where project_id = $1 and name = $2", [
      projectId,
      name,
    ]);
    if (gone.rowCount === 0) return false;
    await audit(client, "knowledge.removed", projectId, { server: name });
    return true;
  });
}

/** A call by a job, for the audit log. */
export async function recordKnowledgeCall(
  db: Queryable,
  projectId: string,
  about: Readonly<Record<string, unknown>>,
): Promise<void> {
  await audit(db, "knowledge.called", projectId, about);
}

async function audit(db: Queryable, action: string, projectId: string, details: object): Promise<void> {
  await db.query("select audit($1, $2, $3::jsonb)", [action, projectId, JSON.stringify(details)]);
}

function refused(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}

function conflict(publicMessage: string): AppError {
  return new AppError("conflict", { publicMessage });
}
