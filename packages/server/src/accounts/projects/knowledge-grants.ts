import { randomBytes } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import {
  askForGrant,
  ConnectionNeeded,
  type GrantClient,
  type KnowledgeGrant,
  redeemCode,
  renewGrant,
  type TokenOf,
} from "@emend/knowledge";
import type { Pool, Queryable } from "../../db/pool.ts";
import { consoleActor, inTransactionAs } from "../../db/transaction.ts";
import { AppError } from "../../errors.ts";
import type { Sealer } from "../secrets.ts";
import { type KnowledgeServerRow, knowledgeCredentialContext } from "./knowledge-servers.ts";

interface GrantDeps {
  pool: Pool;
  sealer: Sealer;
  /** Behind an SSRF guard: the server names the addresses. */
  fetch: typeof fetch;
}

/** What Emend waits for while a person is at the server. */
interface Waiting {
  grant: KnowledgeGrant;
  state: string;
  untilMs: number;
}

const answerMsMax = 15 * 60_000;
/** Longer than a renewal may take. */
const renewalSeconds = 30;
const renewalPollMs = 100;
/** Renewed so long before its end. */
const reserveMs = 30_000;

export function knowledgeGrantContext(id: string): string {
  return `knowledge/${id}/oauth`;
}

export function knowledgeConnectingContext(id: string): string {
  return `knowledge/${id}/connecting`;
}

/** Where authorization servers find Emend, and people come back to it. */
export function grantClientOf(publicUrl: string): GrantClient {
  return { returnUrl: `${publicUrl}/knowledge/return`, url: `${publicUrl}/knowledge/client.json` };
}

/** The address that a person opens to give Emend access. It replaces an earlier one. */
export async function connectKnowledgeServer(
  deps: GrantDeps & { publicUrl: string },
  server: KnowledgeServerRow,
  registered?: { id: string; secret: string | null },
): Promise<string> {
  const state = `${server.id}.${randomBytes(24).toString("base64url")}`;
  const client = grantClientOf(deps.publicUrl);
  const asked = await askForGrant({ url: server.url, fetch: deps.fetch, client, state, registered });
  const waiting: Waiting = { grant: asked.grant, state, untilMs: Date.now() + answerMsMax };
  await deps.pool.query("update knowledge_servers set connecting = $2 where id = $1", [
    server.id,
    deps.sealer.seal(JSON.stringify(waiting), knowledgeConnectingContext(server.id)),
  ]);
  return asked.location;
}

/** Takes the answer that a person's browser brings back. Throws an AppError if it is not one that Emend waits for. */
export async function finishConnection(
  deps: GrantDeps & { publicUrl: string },
  answer: { state: string; code: string | null; issuer: string | undefined },
): Promise<{ name: string }> {
  const { pool, sealer, fetch } = deps;
  // The database refuses some other texts, such as U+0000.
  const id = /^(\w{1,64})\./.exec(answer.state)?.[1] ?? "";
  const { rows } = await pool.query<{ name: string; url: string; projectId: string; sealed: Buffer }>(
    `select name, url, project_id as "projectId", connecting as sealed
     from knowledge_servers where id = $1 and connecting is not null`,
    [id],
  );
  const [row] = rows;
  const waiting: Waiting | null = row ? JSON.parse(sealer.open(row.sealed, knowledgeConnectingContext(id))) : null;
  if (!row || !waiting || waiting.state !== answer.state || waiting.untilMs <= Date.now()) {
    throw new AppError("not_found", { publicMessage: "the link was used, replaced by a newer one, or has expired" });
  }
  // Before the code is used: it counts once, whichever node gets it.
  const taken = await pool.query("update knowledge_servers set connecting = null where id = $1 and connecting = $2", [
    id,
    row.sealed,
  ]);
  if (taken.rowCount === 0) throw new AppError("conflict", { publicMessage: "this answer was used just now" });
  if (answer.code === null) throw new AppError("forbidden", { publicMessage: "access was not allowed" });
  const { grant } = waiting;
  const client = grantClientOf(deps.publicUrl);
  const redeemed = await redeemCode({ url: row.url, fetch, client, grant, code: answer.code, issuer: answer.issuer });
  const sealed = sealer.seal(JSON.stringify(redeemed), knowledgeGrantContext(id));
  await inTransactionAs(pool, consoleActor, async (db) => {
    const { rowCount } = await db.query(
      "update knowledge_servers set oauth = $2, credential = null, renewing_until = null where id = $1",
      [id, sealed],
    );
    if (rowCount === 0) throw new AppError("not_found", { publicMessage: "the server was removed meanwhile" });
    await db.query("select audit('knowledge.connected', $1, $2::jsonb)", [
      row.projectId,
      JSON.stringify({ server: row.name }),
    ]);
  });
  return { name: row.name };
}

/** A server's token, by whichever way it was given. Renews an OAuth token that ends or was refused. */
export function knowledgeTokenOf(deps: GrantDeps, id: string): TokenOf {
  return async (refused) => {
    const { pool, sealer } = deps;
    const { credential, oauth } = await readSealed(pool, id);
    if (credential) return sealer.open(credential, knowledgeCredentialContext(id));
    if (!oauth) return null;
    return usableToken(openGrant(sealer, id, oauth), refused) ?? renewOnce(deps, id, refused);
  };
}

function openGrant(sealer: Sealer, id: string, sealed: Buffer): KnowledgeGrant {
  return JSON.parse(sealer.open(sealed, knowledgeGrantContext(id)));
}

function usableToken({ tokens, endsAtMs = Number.POSITIVE_INFINITY }: KnowledgeGrant, refused?: string): string | null {
  if (!tokens || tokens.access_token === refused || endsAtMs - reserveMs <= Date.now()) return null;
  return tokens.access_token;
}

/** The node that gets the lease renews; the others wait for it and read what it stored. */
async function renewOnce(deps: GrantDeps, id: string, refused: string | undefined): Promise<string | null> {
  const { pool, sealer, fetch } = deps;
  const untilMs = Date.now() + 2 * renewalSeconds * 1_000;
  for (;;) {
    const { rows } = await pool.query<{ lease: string; oauth: Buffer | null }>(
      `update knowledge_servers set renewing_until = clock_timestamp() + $2 * interval '1 second'
       where id = $1 and (renewing_until is null or renewing_until < clock_timestamp())
       returning renewing_until::text as lease, oauth`,
      [id, renewalSeconds],
    );
    const [leased] = rows;
    if (leased) {
      // Null keeps what is stored. Whoever has no lease any more stores nothing.
      const store = async (sealed: Buffer | null) => {
        await pool.query(
          `update knowledge_servers set oauth = coalesce($3, oauth), renewing_until = null
           where id = $1 and renewing_until = $2::timestamptz`,
          [id, leased.lease, sealed],
        );
      };
      try {
        if (!leased.oauth) throw new ConnectionNeeded();
        const grant = openGrant(sealer, id, leased.oauth);
        const usable = usableToken(grant, refused);
        if (usable !== null) {
          await store(null);
          return usable;
        }
        const renewed = await renewGrant({ fetch, grant });
        await store(sealer.seal(JSON.stringify(renewed), knowledgeGrantContext(id)));
        return renewed.tokens?.access_token ?? null;
      } catch (error) {
        await store(null);
        throw error;
      }
    }
    if (Date.now() > untilMs) throw new ConnectionNeeded();
    await delay(renewalPollMs);
  }
}

/** What a job must never reveal of a server's access. */
export async function openKnowledgeSecrets(
  { db, sealer }: { db: Queryable; sealer: Sealer },
  id: string,
): Promise<readonly string[]> {
  const { credential, oauth } = await readSealed(db, id);
  const { client, tokens } = oauth ? openGrant(sealer, id, oauth) : {};
  const token = credential && sealer.open(credential, knowledgeCredentialContext(id));
  const { client_secret: secret } = (client ?? {}) as { client_secret?: string };
  return [token, tokens?.access_token, tokens?.refresh_token, secret].filter((one) => typeof one === "string");
}

async function readSealed(db: Queryable, id: string): Promise<{ credential: Buffer | null; oauth: Buffer | null }> {
  const { rows } = await db.query<{ credential: Buffer | null; oauth: Buffer | null }>(
    "select credential, oauth from knowledge_servers where id = $1",
    [id],
  );
  return rows[0] ?? { credential: null, oauth: null };
}
