import { createHmac } from "node:crypto";
import type { ByteBudget } from "@emend/base/byte-budget.ts";
import type { FastifyInstance } from "fastify";
import type { Sealer } from "../accounts/secrets.ts";
import type { Pool, Queryable } from "../db/pool.ts";
import { type Actor, consoleActor, inTransactionAs } from "../db/transaction.ts";
import { AppError } from "../errors.ts";
import { signedRoute } from "../lib/signed-route.ts";
import { findAutomation } from "./automation-store.ts";
import { mayBeSignedWebhook, verifySignature } from "./webhook-signature.ts";

interface WebhookDeps {
  pool: Pool;
  sealer: Sealer;
  /** EMEND_SECRET. */
  secret: string;
  unknownBytes: ByteBudget;
  /** A run waits. */
  announce(): Promise<void>;
}

/** As much of an event as a prompt can show. */
const eventCharactersMax = 20_000;
/** One job for a hundred events is useful; beyond that, somebody sends too many. */
const waitingMax = 100;
const bodyBytesMax = 256 * 1024;

/** Receives webhooks of any service: each signed one becomes a run of its automation. */
export function automationWebhookPlugin(deps: WebhookDeps): (app: FastifyInstance) => Promise<void> {
  const { pool, unknownBytes } = deps;
  return async (app) =>
    signedRoute<{ id: string }, string | null>(app, {
      path: "/hooks/automations/:id",
      unknownBytes,
      bodyBytesMax,
      refusal: "The webhook is not signed with this automation's secret, or was sent more than 5 minutes ago.",
      mayBeSigned: async ({ params, headers }) => mayBeSignedWebhook(headers) && isWebhook(pool, params.id),
      verify: async ({ params, headers }, body) =>
        verifySignature(await webhookSecretOf(deps, params.id), { headers, body }),
      async answer({ params }, reply, { body, by: event }) {
        const text = readJson(body);
        if (text === null) return reply.code(400).send({ error: "The body is not JSON. Nothing was started." });
        const result = await recordEvent(pool, params.id, event, text);
        if (result === "full") {
          throw new AppError("rate_limited", {
            publicMessage: `${waitingMax} events of this automation wait already. Send this one again later.`,
            retryAfterMs: 60_000,
          });
        }
        if (result === "recorded") await deps.announce();
        return reply.code(202).send({ status: result });
      },
    });
}

function readJson(body: Buffer): string | null {
  try {
    return JSON.stringify(JSON.parse(body.toString("utf8")), null, 1)
      .replaceAll("\0", "")
      .slice(0, eventCharactersMax + 1);
  } catch {
    return null;
  }
}

const idForm = /^[0-9A-Za-z_-]{1,64}$/;

async function isWebhook(db: Queryable, id: string): Promise<boolean> {
  if (!idForm.test(id)) return false;
  const { rowCount } = await db.query("select from automations where id = $1 and trigger ->> 'kind' = 'webhook'", [id]);
  return rowCount === 1;
}

/** A paused automation ignores events, as it ignores pushes. The same event counts once. */
async function recordEvent(
  db: Queryable,
  id: string,
  event: string,
  text: string,
): Promise<"recorded" | "repeated" | "ignored" | "full"> {
  const { rows } = await db.query<{ paused: boolean; known: boolean; waiting: number; added: number }>(
    `with automation as (
       select automations.id, paused_at is not null as paused, repository_url,
         exists (select from automation_runs where automation_id = automations.id and event = $2) as known,
         (select count(*)::int from automation_runs where automation_id = automations.id and state = 'waiting') as waiting
       from automations join projects on projects.id = project_id
       where automations.id = $1 and trigger ->> 'kind' = 'webhook'
     ), added as (
       insert into automation_runs (automation_id, event, words, values)
       select id, $2, 'Waits for its turn.', jsonb_build_object('commits', '[]'::jsonb, 'changedFiles', '[]'::jsonb,
         'tag', null, 'date', to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD'),
         'repository', repository_url, 'events', jsonb_build_array($3::text))
       from automation where not paused and waiting < $4
       on conflict (automation_id, event) do nothing returning id
     )
     select paused, known, waiting, (select count(*)::int from added) as added from automation`,
    [id, event, text, waitingMax],
  );
  const [row] = rows;
  if (!row || row.paused) return "ignored";
  if (row.added === 1) return "recorded";
  return row.known || row.waiting < waitingMax ? "repeated" : "full";
}

export function webhookSecretContext(id: string): string {
  return `automation/${id}/webhook`;
}

/** What signs an automation's webhooks: the secret that somebody gave, or one that each node derives. */
export async function webhookSecretOf(
  deps: { pool: Queryable; sealer: Sealer; secret: string },
  id: string,
): Promise<string> {
  const { rows } = await deps.pool.query<{ sealed: Buffer | null }>(
    "select webhook_secret as sealed from automations where id = $1",
    [id],
  );
  const sealed = rows[0]?.sealed;
  if (sealed) return deps.sealer.open(sealed, webhookSecretContext(id));
  return `whsec_${createHmac("sha256", deps.secret).update(`emend automation webhook ${id}`).digest("base64")}`;
}

/** The secrets of a project's webhook automations: no job may reveal them. */
export async function webhookSecretsOf(
  deps: { pool: Queryable; sealer: Sealer; secret: string },
  projectId: string,
): Promise<readonly string[]> {
  const { rows } = await deps.pool.query<{ id: string }>(
    "select id from automations where project_id = $1 and trigger ->> 'kind' = 'webhook' order by id",
    [projectId],
  );
  return Promise.all(rows.map(({ id }) => webhookSecretOf(deps, id)));
}

const secretForm = /^[\x21-\x7e]{16,200}$/;

/** For services that choose the secret themselves. Null: the derived one counts again. */
export async function setWebhookSecret(
  deps: { pool: Pool; sealer: Sealer },
  id: string,
  given: string | null,
  by: Actor = consoleActor,
): Promise<void> {
  const { name, projectId, trigger } = await findAutomation(deps.pool, id);
  if (trigger.kind !== "webhook") throw invalid("This automation is not started by a webhook, so it has no secret.");
  if (given !== null && !secretForm.test(given)) {
    throw invalid("A webhook's secret must have 16 to 200 characters without spaces.");
  }
  const sealed = given === null ? null : deps.sealer.seal(given, webhookSecretContext(id));
  await inTransactionAs(deps.pool, by, async (client) => {
    await client.query("update automations set webhook_secret = $2 where id = $1", [id, sealed]);
    const details = { name, changed: ["webhook secret"] };
    await client.query("select audit('automation.changed', $1, $2::jsonb)", [projectId, JSON.stringify(details)]);
  });
}

function invalid(publicMessage: string): AppError {
  return new AppError("invalid_request", { publicMessage });
}
