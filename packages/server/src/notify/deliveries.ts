import { assertNever } from "@emend/base/fault.ts";
import { channels } from "../db/listener.ts";
import type { Queryable } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { postMessage, signatureHeaders } from "./post-message.ts";
import type { ResolveAll } from "./ssrf-guard.ts";
import {
  openWebhookUrl,
  type SecretSealer,
  secretContext,
  type WebhookFormat,
  type WebhookMessage,
} from "./webhooks.ts";

export interface ClaimedDelivery {
  id: string;
  webhookId: string;
  jobId: string | null;
  url: string;
  sealedUrl: Buffer;
  secret: Buffer;
  /** Also signs while receivers change to the new one. */
  oldSecret: Buffer | null;
  format: WebhookFormat;
  payload: WebhookMessage;
  /** For chats, which show more than the message has. */
  facts: ChatFacts;
  /** This one included. */
  tries: number;
}

/** What a chat shows besides the message. */
export interface ChatFacts {
  project: string;
  /** Null: the message is not about a job, or the job changed nothing. */
  change: { files: number; additions: number; deletions: number } | null;
  /** Findings that the change introduced and fixed. */
  introduced: number;
  fixed: number;
}

/**
 * Claims the delivery that has been due longest. It is due again after `claimMs`, so that another node sends it if this
 * one is killed; only then can a receiver get a message twice.
 */
export async function claimDelivery(
  db: Queryable,
  options: { claimMs: number; busyWebhookIds: readonly string[] },
): Promise<ClaimedDelivery | undefined> {
  const { rows } = await db.query<ClaimedDelivery>({
    name: "claim-delivery",
    text: `
      with due as (
        select deliveries.id from deliveries join webhooks on webhooks.id = webhook_id
        where state = 'pending' and due_at <= clock_timestamp() and disabled_at is null and webhook_id <> all ($2::text[])
        order by due_at limit 1 for no key update of deliveries skip locked
      ), claimed as (
        update deliveries set tries = tries + 1, last_try_at = clock_timestamp(),
          due_at = clock_timestamp() + make_interval(secs => $1)
        from due where deliveries.id = due.id
        returning deliveries.id, webhook_id, job_id, payload, tries
      )
      select claimed.id, webhook_id as "webhookId", job_id as "jobId", url, sealed_url as "sealedUrl", secret,
        case when old_secret_until > clock_timestamp() then old_secret end as "oldSecret", format, payload, tries,
        jsonb_build_object('project', projects.name, 'change', diff_figures,
          'introduced', coalesce(jsonb_array_length(findings -> 'introduced'), 0),
          'fixed', coalesce(jsonb_array_length(findings -> 'fixed'), 0)) as facts
      from claimed join webhooks on webhooks.id = webhook_id join projects on projects.id = webhooks.project_id
        left join jobs on jobs.id = claimed.job_id`,
    values: [options.claimMs / 1000, options.busyWebhookIds],
  });
  return rows[0];
}

export interface DeliverDeps {
  sealer: SecretSealer;
  publicUrl(): string;
  allowPrivate: boolean;
  /** The operator's certificate authorities, besides the usual ones. */
  ca?: readonly string[] | undefined;
  resolve?: ResolveAll;
}

/** Sends a message once and returns the outcome. */
export async function deliver(
  deps: DeliverDeps,
  delivery: ClaimedDelivery,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  const body = formatMessage(delivery.payload, delivery.format, { ...delivery.facts, publicUrl: deps.publicUrl() });
  const sentAtSeconds = Math.floor(Date.now() / 1000);
  try {
    const secrets = [delivery.secret, delivery.oldSecret]
      .filter((sealed) => sealed !== null)
      .map((sealed) => deps.sealer.open(sealed, secretContext(delivery.webhookId)));
    const headers = {
      "content-type": "application/json",
      "user-agent": "Emend-Webhooks",
      ...signatureHeaders(secrets, { id: delivery.id, body, sentAtSeconds }),
    };
    const url = openWebhookUrl(deps.sealer, delivery);
    const { status, retryAfter } = await postMessage(url, { headers, body }, { ...deps, signal });
    if (status >= 200 && status < 300) return { kind: "delivered", status };
    if (status === 410) return { kind: "gone", status };
    return {
      kind: "refused",
      status,
      retryAfterMs: /^\d{1,6}$/.test(retryAfter ?? "") ? Number(retryAfter) * 1000 : 0,
    };
  } catch (error) {
    return { kind: "unreached", error: error instanceof Error ? error.message : "unknown error" };
  }
}

type DeliveryOutcome =
  | { kind: "delivered"; status: number }
  /** The receiver wants no more messages (410). */
  | { kind: "gone"; status: number }
  | { kind: "refused"; status: number; retryAfterMs: number }
  | { kind: "unreached"; error: string };

/** The retry schedule that Standard Webhooks proposes. After the last retry the delivery has failed. */
const retryAfterSeconds = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400] as const;

const dayMs = 86_400_000;

/** `tries` fences the write: a sender that counts as dead can no longer change it. */
export async function recordDeliveryOutcome(
  db: Queryable,
  delivery: { id: string; tries: number },
  outcome: DeliveryOutcome,
): Promise<void> {
  const status = outcome.kind === "unreached" ? null : outcome.status;
  const error = outcome.kind === "unreached" ? outcome.error.slice(0, 500) : null;
  const waitMs = nextTryMs(delivery.tries, outcome);
  const state = outcome.kind === "delivered" ? "delivered" : waitMs === null ? "failed" : "pending";
  await db.query(
    `with settled as (
       update deliveries set state = $3, last_status = $4, last_error = $5,
         due_at = case when $3 = 'pending' then clock_timestamp() + make_interval(secs => $6) else due_at end
       where id = $1 and tries = $2 and state = 'pending'
       returning webhook_id
     )
     update webhooks set disabled_at = clock_timestamp(), disabled_reason = 'its receiver answered 410 Gone'
     from settled where id = webhook_id and $7 and disabled_at is null`,
    [delivery.id, delivery.tries, state, status, error, (waitMs ?? 0) / 1000, outcome.kind === "gone"],
  );
}

/** The process stops: this was no try. */
export async function releaseDelivery(db: Queryable, delivery: { id: string; tries: number }): Promise<void> {
  await db.query(
    `update deliveries set tries = tries - 1, due_at = clock_timestamp()
     where id = $1 and tries = $2 and state = 'pending'`,
    [delivery.id, delivery.tries],
  );
}

/** Null: no more retries. */
function nextTryMs(tries: number, outcome: DeliveryOutcome): number | null {
  const seconds = retryAfterSeconds[tries - 1];
  if (outcome.kind === "delivered" || outcome.kind === "gone" || seconds === undefined) return null;
  // With jitter, so that a recovering receiver does not get everything at once.
  const scheduledMs = seconds * 1000 * (1 + Math.random() * 0.1);
  return outcome.kind === "refused" ? Math.max(scheduledMs, Math.min(outcome.retryAfterMs, dayMs)) : scheduledMs;
}

/** One message to one webhook, and its outcome. */
export interface Delivery {
  id: string;
  webhookId: string;
  /** Null if it is not about a job. */
  jobId: string | null;
  event: WebhookMessage["type"];
  payload: WebhookMessage;
  state: "pending" | "delivered" | "failed";
  tries: number;
  /** For a pending one: the next attempt. */
  dueAt: Date;
  lastStatus: number | null;
  lastError: string | null;
  lastTryAt: Date | null;
  createdAt: Date;
}

const deliveriesMax = 200;

/** The latest, newest first. */
export async function listDeliveries(db: Queryable, webhookId: string): Promise<readonly Delivery[]> {
  const { rows } = await db.query<Delivery>(
    `select id, webhook_id as "webhookId", job_id as "jobId", event, payload, state, tries, due_at as "dueAt",
       last_status as "lastStatus", last_error as "lastError", last_try_at as "lastTryAt", created_at as "createdAt"
     from deliveries where webhook_id = $1 order by created_at desc, id limit ${deliveriesMax}`,
    [webhookId],
  );
  return rows.map((delivery) => ({ ...delivery, payload: asDocumented(delivery.payload) }));
}

/** Sends a message again with the same id. False if the delivery does not exist. */
export async function redeliver(db: Queryable, deliveryId: string): Promise<boolean> {
  const { rows } = await db.query<{ disabled: boolean }>(
    "select disabled_at is not null as disabled from webhooks where id = (select webhook_id from deliveries where id = $1)",
    [deliveryId],
  );
  if (rows[0]?.disabled) {
    throw new AppError("conflict", { publicMessage: "The webhook is disabled. Enable it first." });
  }
  const { rowCount } = await db.query(
    `with again as (
       update deliveries set state = 'pending', tries = 0, due_at = clock_timestamp() where id = $1 returning id
     )
     select pg_notify('${channels.deliveryDue}', '') from again`,
    [deliveryId],
  );
  return rowCount === 1;
}

/** The body that is posted. */
export function formatMessage(
  message: WebhookMessage,
  format: WebhookFormat,
  facts: ChatFacts & { publicUrl: string },
): string {
  switch (format) {
    case "standard":
      return JSON.stringify(asDocumented(message));
    case "slack":
      return JSON.stringify({ text: slackText(message, facts) });
    default:
      return assertNever(format);
  }
}

/** The database may store more about a pull request than the documented fields. */
function asDocumented(message: WebhookMessage): WebhookMessage {
  if (!isOfJob(message) || !message.data.pullRequest) return message;
  const { pullRequest } = message.data;
  const { number, url, state, draft } = pullRequest;
  return { ...message, data: { ...message.data, pullRequest: { number, url, state, draft } } };
}

type JobMessage = Extract<WebhookMessage, { data: { pullRequest: unknown } }>;

function isOfJob(message: WebhookMessage): message is JobMessage {
  return "pullRequest" in message.data;
}

/** A sentence with the pull request and the project; for a job that ended, a line with counts and a link to the job. */
function slackText(message: WebhookMessage, facts: ChatFacts & { publicUrl: string }): string {
  const project = escapeSlack(facts.project);
  if (message.type === "job.question") {
    const { job, question, options } = message.data;
    const choices = options.length === 0 ? "" : `\n${options.map((option) => `• ${escapeSlack(option)}`).join("\n")}`;
    const page = linkTo(`${facts.publicUrl}/app/jobs/${job.id}`, "Answer in Emend");
    return `A job in *${project}* asks: ${escapeSlack(question)}${choices}${page === null ? "" : `\n${page}`}`;
  }
  if (message.type === "job.waiting") {
    const { job, waiting } = message.data;
    const page = linkTo(`${facts.publicUrl}/app/jobs/${job.id}`, "Publish it or not");
    return `A job in *${project}* waits for you: ${escapeSlack(waiting.message)}${page === null ? "" : `\n${page}`}`;
  }
  if (!isOfJob(message)) return `*${project}*: ${otherText(message)}`;
  const { type, data } = message;
  const { job } = data;
  const name = escapeSlack(data.title ?? job.id);
  const subject = linkTo(data.pullRequest?.url ?? job.prLink, name) ?? `*${name}*`;
  const sentence = `${subject} ${words[type]} in *${project}*${whyOf(type, data)}.`;
  const page = linkTo(`${facts.publicUrl}/app/jobs/${job.id}`, "Open in Emend");
  const isEnd = type === "job.completed" || type === "job.failed";
  const counts = isEnd && facts.change ? countsOf(facts, facts.change) : [];
  return `${sentence}\n${[...counts, ...(page === null ? [] : [page])].join(" · ")}`.trimEnd();
}

function countsOf({ introduced, fixed }: ChatFacts, change: NonNullable<ChatFacts["change"]>): string[] {
  if (change.files === 0) return [];
  return [
    `${change.files} ${change.files === 1 ? "file" : "files"} changed, +${change.additions} −${change.deletions}`,
    introduced === 0 ? "no new problems" : `${introduced} new ${introduced === 1 ? "problem" : "problems"}`,
    ...(fixed === 0 ? [] : [`${fixed} fixed`]),
  ];
}

function otherText(message: Exclude<WebhookMessage, JobMessage | { type: "job.question" | "job.waiting" }>): string {
  if (message.type === "webhook.test") return "This is a test message from Emend.";
  const { scope, jobs, costUsd, month } = message.data;
  const used = [
    ...(costUsd.max === null ? [] : [`$${costUsd.used.toFixed(2)} of $${costUsd.max}`]),
    ...(jobs.max === null ? [] : [`${jobs.used} of ${jobs.max} jobs`]),
  ].join(", ");
  const what = message.type === "budget.exceeded" ? "is used up. New jobs are refused" : "is 80 % used";
  return `The ${scope}'s budget for ${month} ${what}: ${used}.`;
}

const words: Record<JobMessage["type"], string> = {
  "job.completed": "is done",
  "job.failed": "failed",
  "job.archived": "was archived",
  "pull_request.merged": "was merged",
  "pull_request.closed": "was closed without a merge",
};

function whyOf(type: JobMessage["type"], data: JobMessage["data"]): string {
  if (type === "job.failed" && data.failure) {
    const message = escapeSlack(data.failure.message).replace(/[.!]+$/, "");
    return `: ${message} (${data.failure.code})`;
  }
  return type === "job.completed" && data.pullRequest === null && data.job.prLink === null
    ? ": nothing was changed"
    : "";
}

function linkTo(url: string | null, text: string): string | null {
  if (url === null || !/^https?:/.test(url)) return null;
  return `<${url.replace(/[<>|]/g, encodeURIComponent)}|${text}>`;
}

const textMax = 300;

/** Model output must not mention a channel, hide a URL or break the line. */
function escapeSlack(text: string): string {
  const short = text.length > textMax ? `${text.slice(0, textMax)}…` : text;
  return short
    .toWellFormed()
    .replaceAll(/\s+/g, " ")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/[|*]/g, " ");
}
