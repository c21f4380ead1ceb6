import { setTimeout } from "node:timers/promises";
import type { Logger } from "@emend/base/logger.ts";
import { channels } from "../db/listener.ts";
import type { Queryable } from "../db/pool.ts";

/** Tells idle workers that a project has a due job. Only a hint: workers also poll every second. */
export type AnnounceDue = (projectId: string) => void;

/**
 * Tells readers that a job has changed and will change again. A process that dies first leaves them with an older state
 * until then, so a job's last change is announced in its own transaction.
 */
export type AnnounceChange = (jobId: string) => void;

/** Whoever was just notified is not notified again immediately. */
const pauseMs = 5;

export function createAnnounceDue(deps: { db: Queryable; log: Logger }): AnnounceDue {
  return createAnnouncer(deps, channels.jobDue);
}

export function createAnnounceChange(deps: { db: Queryable; log: Logger }): AnnounceChange {
  return createAnnouncer(deps, channels.jobChanged);
}

/**
 * Not sent with the write: Postgres serializes the commits of transactions that notify, disk write included, which
 * would halve the create throughput of many clients. The first id is announced immediately, and those that follow
 * closely are announced together.
 */
function createAnnouncer(deps: { db: Queryable; log: Logger }, channel: string): (id: string) => void {
  const waiting = new Set<string>();
  let isSending = false;

  async function sendAll(): Promise<void> {
    isSending = true;
    while (waiting.size > 0) {
      const ids = [...waiting];
      waiting.clear();
      await send(ids).catch((error) => deps.log.warn({ err: error, channel, ids }, "could not send a notice"));
      await setTimeout(pauseMs, undefined, { ref: false });
    }
    isSending = false;
  }

  async function send(ids: readonly string[]): Promise<void> {
    await deps.db.query({
      name: "announce",
      text: "select pg_notify($1, id) from unnest($2::text[]) id",
      values: [channel, ids],
    });
  }

  return (id) => {
    waiting.add(id);
    if (!isSending) void sendAll();
  };
}
