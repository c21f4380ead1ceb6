import { channels } from "../db/channels.ts";
import type { Queryable } from "../db/pool.ts";
import type { Logger } from "../lib/logger.ts";

/** Tells idle workers that a project has a job to claim. A hint: they look by themselves every second. */
export type AnnounceDue = (projectId: string) => void;

/**
 * Not sent with the insert: Postgres lets transactions that notify commit only one after the other, disk write
 * included, which would halve what many clients together can create. One query is under way at a time; what is created
 * meanwhile goes out with the next.
 */
export function createAnnounceDue(deps: { db: Queryable; log: Logger }): AnnounceDue {
  const waiting = new Set<string>();
  let isSending = false;

  async function sendAll(): Promise<void> {
    isSending = true;
    while (waiting.size > 0) {
      const projectIds = [...waiting];
      waiting.clear();
      await send(projectIds).catch((error) => deps.log.warn({ err: error }, "due job not announced"));
    }
    isSending = false;
  }

  async function send(projectIds: readonly string[]): Promise<void> {
    await deps.db.query({
      name: "announce-due",
      text: "select pg_notify($1, id) from unnest($2::text[]) id",
      values: [channels.jobDue, projectIds],
    });
  }

  return (projectId) => {
    waiting.add(projectId);
    if (!isSending) void sendAll();
  };
}
